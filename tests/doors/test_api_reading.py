"""Lists and details: what they say, what they leave out, and what they cost."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from django.test import Client, override_settings

from saga_app import Saga, step, testing
from saga_app.core.status import Status, StuckReason
from tests.doors import http
from tests.doors.http import ROOT, client, is_problem, one, saga_queries

pytestmark = pytest.mark.django_db
MAY = datetime(2024, 5, 1, 12, tzinfo=UTC)
MB = 1024 * 1024


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with testing.isolate_sagas():
        yield
    testing.clock.release()


@pytest.fixture
def api() -> Client:
    return client("view")


@step(attempts=1)
def echo(value: object) -> object:
    return value


def ids(response) -> list[str]:
    assert response.status_code == 200, response.content
    return [row["id"] for row in response.json()["results"]]


class TestDetail:
    def test_it_says_everything(self, api):
        testing.clock.set(MAY)
        execution = http.stuck()
        said = api.get(one(execution)).json()
        assert said == {
            "id": str(execution.pk),
            "saga": "hold",
            "revision": 1,
            "key": None,
            "status": "stuck",
            "rollback_status": "",
            "stuck_reason": "step_failed",
            "error": {"type": "ValueError", "message": "it broke", "notes": []},
            "cause": execution.cause,
            "failing_path": "fail",
            "version": execution.version,
            "resume_count": 0,
            "parent_id": None,
            "rested_at": "",
            "unread_signals": 0,
            "due_at": None,
            "deadline_at": None,
            "cancel_requested_at": None,
            "created_at": "2024-05-01T12:00:00Z",
            "started_at": "2024-05-01T12:00:00Z",
            "updated_at": "2024-05-01T12:00:00Z",
            "finished_at": None,
            "input": {"sku": "A1", "quantity": 2, "total": "9.99"},
            "output": None,
            "waits_for": [],
            "children": [],
        }

    def test_an_ended_one_shows_what_it_returned(self, api):
        from saga_app import ref

        execution = testing.run(Saga("s", echo, output=ref("echo")), value={"a": [1, None, True]})
        assert api.get(one(execution)).json()["output"] == {"a": [1, None, True]}

    def test_it_costs_three_queries(self, api):
        """The execution, what it waits for, its children."""
        execution = http.stuck()
        assert len(saga_queries(lambda: api.get(one(execution)))) == 3

    def test_hostile_text_comes_out_as_plain_ascii_json(self, api):
        """NUL, lone surrogates, markup and right-to-left marks, in values and in errors."""
        nasty = "\x00 \ud800 </script> \u202e {{7*7}}"

        @step(attempts=1)
        def fail() -> None:
            raise ValueError(nasty)

        execution = testing.run(Saga("s", echo, fail), value={nasty: nasty})
        for address in (one(execution), ROOT):
            response = api.get(address)
            assert response.status_code == 200
            assert response.content.isascii()
            assert "{{7*7}}" in response.json()["results" if address == ROOT else "error"].__str__()

    def test_what_is_no_id_names_nothing(self, api):
        """Case C22."""
        for text in ["not-a-uuid", "1", "%00", "%ED%A0%80", "..", "a" * 36, "a" * 5_000]:
            is_problem(api.get(f"{ROOT}{text}/"), 404, "not_found")
        is_problem(api.get(f"{ROOT}01890a5d-ac96-774b-bcce-b302099a8057/"), 404, "not_found")

    @override_settings(USE_TZ=False, TIME_ZONE="America/Bogota")
    def test_moments_are_utc_whatever_the_sites_zone(self, api):
        """Case C38 (api)."""
        testing.clock.set(datetime(2024, 6, 1, 19, tzinfo=UTC))
        execution = http.waiting()
        said = api.get(one(execution)).json()
        assert (said["created_at"], said["due_at"]) == ("2024-06-01T19:00:00Z", "2024-06-01T20:00:00Z")


class TestList:
    def test_it_leaves_large_values_out(self, api):
        """Case C35 (api): also not read from the database."""
        for _ in range(5):
            testing.run(Saga("s", echo), value="x" * 500_000)
        queries = saga_queries(lambda: api.get(ROOT))
        assert len(queries) == 1
        assert '"input"' not in queries[0]
        assert '"output"' not in queries[0]
        response = api.get(ROOT)
        assert len(response.content) < MB
        assert response.json()["results"][0].keys().isdisjoint({"input", "output", "steps"})

    def test_long_errors_are_a_line(self, api):
        for _ in range(60):
            testing.run(Saga("s", http.fail), message="\u20ac" * 10_000)
        response = api.get(f"{ROOT}?page_size=200")
        assert len(response.content) < MB
        assert {len(row["error"]["message"]) for row in response.json()["results"]} == {200}

    def test_its_queries_do_not_grow(self, api):
        testing.run(Saga("s", echo), value=1)
        few = saga_queries(lambda: api.get(ROOT))
        for _ in range(20):
            testing.run(Saga("s", echo), value=1)
        assert len(saga_queries(lambda: api.get(ROOT))) == len(few) == 1

    def test_nothing_there(self, api):
        assert api.get(ROOT).json() == {"next": None, "previous": None, "results": []}


class TestFilters:
    def test_each_is_exact(self, api):
        done, stuck = http.completed(), http.stuck()
        late = http.stuck_past_pivot()
        keyed = http.buy().start(http.Purchase("A1", 1), key="order-1")
        for query, expected in {
            "saga=hold": [stuck],
            "saga=hol": [],
            "status=completed": [done],
            "status=stuck": [late, stuck],
            "stuck_reason=failed_past_pivot": [late],
            "status=stuck&stuck_reason=step_failed": [stuck],
            "key=order-1": [keyed],
            "key=ORDER-1": [],
            "key=order": [],
            "saga=buy": [keyed, done],
        }.items():
            assert ids(api.get(f"{ROOT}?{query}")) == [str(x.pk) for x in expected], query

    @pytest.mark.parametrize("status", list(Status))
    def test_every_status_may_be_asked_for(self, api, status):
        assert ids(api.get(f"{ROOT}?status={status}")) == []

    @pytest.mark.parametrize("reason", [reason for reason in StuckReason if reason])
    def test_every_reason_may_be_asked_for(self, api, reason):
        assert ids(api.get(f"{ROOT}?stuck_reason={reason}")) == []

    @pytest.mark.parametrize(
        ("query", "blamed"),
        [
            ("status=%00", "status"),
            ("status=NOPE", "status"),
            ("status=", "status"),
            ("stuck_reason=nope", "stuck_reason"),
            ("saga=%00", "saga"),
            ("saga=", "saga"),
            ("key=", "key"),
            ("saga=" + "x" * 101, "saga"),
            ("key=a%00b", "key"),
            ("key=" + "x" * 256, "key"),
            ("cursor=x", "cursor"),
            ("cursor=%00", "cursor"),
            ("cursor=", "cursor"),
            ("page_size=0", "page_size"),
            ("page_size=201", "page_size"),
            ("page_size=-1", "page_size"),
            ("page_size=x", "page_size"),
            ("page_size=%D9%A3", "page_size"),
            ("page_size=" + "9" * 5_000, "page_size"),
        ],
    )
    def test_what_cannot_be_is_refused_by_name(self, api, query, blamed):
        """Case C22: scanners put `%00` into filters."""
        problem = is_problem(api.get(f"{ROOT}?{query}"), 400, "invalid_query")
        assert [error["parameter"] for error in problem["errors"]] == [blamed]

    @pytest.mark.parametrize(
        "query",
        [
            "search=%00",
            "page=99999999999999999999",
            "created_after=2024-02-30",
            "ordering=password",
            "key=%ED%A0%80",
            "saga=%ff",
            "saga__startswith=h",
            "format=xml",
            "format=json",
            "&&&==&%",
        ],
    )
    def test_whatever_scanners_send(self, api, query):
        """Case C22: never a 500."""
        assert api.get(f"{ROOT}?{query}").status_code in {200, 400, 404}

    def test_too_many_parameters(self, api):
        assert api.get(f"{ROOT}?{'a=1&' * 2_000}").status_code == 400

    def test_accept(self, api):
        assert api.get(ROOT, headers={"Accept": "text/html, */*;q=0.1"})["Content-Type"] == "application/json"
        assert api.get(ROOT, headers={"Accept": "application/problem+json"}).status_code == 200
        is_problem(api.get(ROOT, headers={"Accept": "text/html"}), 406, "not_acceptable")
