"""The parts of one execution: what each says, how it is read on from where somebody stopped, what it costs, who may."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from saga_app import ForEach, Saga, Wait, ref, step, testing
from saga_app.models import Execution
from saga_app.store import events
from saga_app.store.transactions import alias
from tests.doors import http
from tests.doors.http import IN, ROOT, client, is_problem, one, saga_queries
from tests.doors.test_api_redaction import SECRET, issue, login

pytestmark = pytest.mark.django_db
PARTS = ("steps", "events", "signals", "plan", "timeline", "state")
MAY = datetime(2024, 5, 1, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with testing.isolate_sagas():
        yield
    testing.clock.release()


@pytest.fixture
def api() -> Client:
    return client("view")


@step(attempts=1)
def pack(line: int) -> int:
    return line


@pack.compensate(attempts=1)
def unpack() -> None:
    """Nothing to undo in the world."""


def many(count: int, *after: Any) -> Execution:
    saga = Saga("many", ForEach("line", ref("input.lines"), pack), *after)
    return testing.run(saga, lines=list(range(count)))


def results(api: Client, execution: Execution, part: str, query: str = "") -> list[dict[str, Any]]:
    response = api.get(f"{one(execution, part)}?{query}")
    assert response.status_code == 200, response.content
    found: list[dict[str, Any]] = response.json()["results"]
    return found


@pytest.mark.parametrize("part", PARTS)
class TestEachPart:
    def test_who_may(self, part: str) -> None:
        execution = http.stuck()
        is_problem(Client().get(one(execution, part)), 403, "not_authenticated")
        others = client("start", "resume", "abandon", "cancel", "skip", "signal")
        is_problem(others.get(one(execution, part)), 403, "permission_denied")

    @pytest.mark.parametrize("status", IN)
    def test_it_is_there_in_every_status_and_changes_nothing(self, api: Client, part: str, status: str) -> None:
        execution = IN[status]()
        before = Execution.objects.values().get(pk=execution.pk), execution.events.count()
        results(api, execution, part)
        assert (Execution.objects.values().get(pk=execution.pk), execution.events.count()) == before

    def test_only_get(self, api: Client, part: str) -> None:
        execution = http.stuck()
        for method in ("post", "put", "patch", "delete", "options"):
            is_problem(getattr(api, method)(one(execution, part)), 405, "method_not_allowed")

    @pytest.mark.parametrize("pk", ["01890a5d-ac96-774b-bcce-b302099a8057", "not-a-uuid", "%00", "a" * 36, "a" * 5_000])
    def test_what_is_no_execution(self, api: Client, part: str, pk: str) -> None:
        is_problem(api.get(f"{ROOT}{pk}/{part}/"), 404, "not_found")

    def test_its_queries_do_not_grow(self, api: Client, part: str) -> None:
        few, more = many(2), many(30)
        counted = len(saga_queries(lambda: results(api, few, part, "page_size=200")))
        assert len(saga_queries(lambda: results(api, more, part, "page_size=200"))) == counted <= 3

    def test_hostile_text_comes_out_as_plain_ascii_json(self, api: Client, part: str) -> None:
        nasty = "\x00 \ud800 </script> \u202e"

        @step(attempts=1)
        def fail(value: str) -> None:
            raise ValueError(value)

        execution = testing.run(Saga("s", fail, Wait("go"), on_failure="hold"), value=nasty)
        execution.signal("go", {nasty: nasty}, reason=nasty)
        for query in ("", "include=arguments,output,attempts,error", "include=payload"):
            assert api.get(f"{one(execution, part)}?{query}").content.isascii()


class TestSteps:
    def test_they_come_in_order_and_without_what_is_large(self, api: Client) -> None:
        execution = many(3)
        rows = results(api, execution, "steps")
        assert [row["path"] for row in rows] == ["line", "line[0]/pack", "line[1]/pack", "line[2]/pack"]
        assert rows[1].keys().isdisjoint({"arguments", "output", "attempts", "error"})
        queries = saga_queries(lambda: api.get(one(execution, "steps")))
        assert not any('"arguments"' in query or '"attempts"' in query for query in queries), queries

    def test_what_is_large_comes_on_request(self, api: Client) -> None:
        execution = http.stuck()
        first, second = results(api, execution, "steps", "include=arguments,output,error,attempts")
        assert first["arguments"] == {"sku": "A1", "quantity": 2}
        assert (first["output"], first["error"]) == ("2 x A1", None)
        assert second["error"] == {"type": "ValueError", "message": "it broke", "notes": []}
        assert [one["outcome"] for one in second["attempts"]] == ["raised"]

    def test_they_are_read_to_the_end(self, api: Client) -> None:
        execution, seen = many(10), []
        address = f"{one(execution, 'steps')}?page_size=4&include=output"
        while address:
            said = api.get(address).json()
            seen += [row["path"] for row in said["results"]]
            address = said["next"]
        assert seen == list(execution.steps.values_list("path", flat=True))

    def test_what_the_console_hides_is_hidden(self, api: Client) -> None:
        execution = testing.run(Saga("leaky", login, issue, Wait("auth_token")), given={"password": SECRET})
        execution.signal("auth_token", SECRET)
        events.append(execution.pk, "signal", alias(), data={"name": "x", "secret": SECRET})
        for part in PARTS:
            for query in ("", "include=arguments,output,attempts,error", "include=payload"):
                assert SECRET not in api.get(f"{one(execution, part)}?{query}").content.decode()
        assert results(api, execution, "steps", "include=output")[1]["output"] == "[redacted]"
        assert results(api, execution, "signals", "include=payload")[0]["payload"] == "[redacted]"


class TestEvents:
    def test_who_has_seen_one_asks_on(self, api: Client) -> None:
        execution = http.stuck()
        rows = results(api, execution, "events")
        assert [row["type"] for row in rows] == ["start", "stuck"]
        last = rows[-1]["id"]
        assert results(api, execution, "events", f"after={last}") == []
        execution.resume(actor=http.user(name="anna"), reason="mended")
        (told,) = results(api, execution, "events", f"after={last}")
        assert (told["type"], told["actor_name"], told["reason"]) == ("resume", "anna", "mended")

    def test_only_its_own(self, api: Client) -> None:
        http.stuck()
        execution = http.completed()
        assert {row["type"] for row in results(api, execution, "events")} == {"start", "completed"}


class TestSignals:
    def test_they_say_who_sent_what(self, api: Client) -> None:
        execution = testing.run(Saga("gated", Wait("go"), output=ref("go")))
        execution.signal("go", {"a": 1}, key="k", actor=http.user(name="anna"))
        testing.drain()
        (row,) = results(api, execution, "signals")
        assert (row["name"], row["key"], row["sender_name"], row["consumed_by"]) == ("go", "k", "anna", "go")
        assert "payload" not in row
        assert results(api, execution, "signals", "include=payload")[0]["payload"] == {"a": 1}


class TestPlan:
    def test_it_says_what_an_unwind_would_do(self, api: Client) -> None:
        execution = http.stuck()
        said = api.get(one(execution, "plan")).json()
        assert (said["version"], said["unwinding"], said["past_pivot"]) == (execution.version, False, False)
        lines = [(line["path"], line["action"], line["reason"]) for line in said["results"]]
        assert lines == [("fail", "nothing", "no_compensation"), ("take", "compensate", "")]

    def test_past_the_pivot_there_is_none(self, api: Client) -> None:
        said = api.get(one(http.stuck_past_pivot(), "plan")).json()
        assert (said["past_pivot"], said["results"], said["count"]) == (True, [], 0)

    def test_a_saga_that_is_not_known_here(self, api: Client) -> None:
        execution = http.stuck()
        with testing.isolate_sagas():
            is_problem(api.get(one(execution, "plan")), 409, "unknown_saga")


class TestTimelineAndState:
    def test_bars_tell_work_from_waits(self, api: Client) -> None:
        testing.clock.set(MAY)
        execution = http.waiting()
        rows = results(api, execution, "timeline")
        assert [(row["lane"], row["path"]) for row in rows] == [("forward", "later")]
        work, wait = rows[0]["bars"]
        assert (work["outcome"], work["attempt"], work["why"]) == ("raised", 1, None)
        assert (wait["why"], wait["end"], wait["start"]) == ("backoff", None, "2024-05-01T12:00:00Z")

    def test_the_state_is_that_of_the_moment(self, api: Client) -> None:
        testing.clock.set(MAY)
        execution = http.stuck()
        testing.clock.forward(timedelta(hours=1))
        execution.abandon(reason="enough")
        then = api.get(one(execution, "state"), {"at": "2024-05-01T12:30:00Z"}).json()
        assert (then["status"], then["stuck_reason"], then["failing_path"]) == ("stuck", "step_failed", "fail")
        assert [(row["path"], row["status"]) for row in then["results"]] == [("take", "completed"), ("fail", "failed")]
        now = api.get(one(execution, "state")).json()
        assert (now["status"], now["finished_at"]) == ("failed", "2024-05-01T13:00:00Z")
        before = api.get(one(execution, "state"), {"at": "2024-05-01T11:00:00Z"})
        assert is_problem(before, 400, "invalid_query")["errors"][0]["parameter"] == "at"


@pytest.mark.parametrize(
    ("part", "query", "blamed"),
    [
        ("steps", "include=everything", "include"),
        ("steps", "include=", "include"),
        ("steps", "include=output,%00", "include"),
        ("steps", "include=output&page_size=21", "page_size"),
        ("steps", "page_size=201", "page_size"),
        ("steps", "after=-1", "after"),
        ("events", "after=x", "after"),
        ("events", "after=%D9%A3", "after"),
        ("events", "after=9223372036854775808", "after"),
        ("events", "after=" + "9" * 5_000, "after"),
        ("events", "page_size=0", "page_size"),
        ("signals", "include=output", "include"),
        ("plan", "offset=x", "offset"),
        ("timeline", "offset=-1", "offset"),
        ("state", "at=yesterday", "at"),
        ("state", "at=%00", "at"),
        ("state", "at=", "at"),
        ("state", "at=2024-05-01T12:00:00", "at"),
        ("state", "at=0001-01-01T00:00:00%2B14:00", "at"),
        ("state", "offset=99999999999", "offset"),
    ],
)
def test_what_cannot_be_is_refused_by_name(api: Client, part: str, query: str, blamed: str) -> None:
    problem = is_problem(api.get(f"{one(http.stuck(), part)}?{query}"), 400, "invalid_query")
    assert [error["parameter"] for error in problem["errors"]] == [blamed]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(
    part=st.sampled_from(PARTS),
    query=st.dictionaries(st.sampled_from(["after", "page_size", "include", "offset", "at"]), st.text()),
)
def test_any_query(api: Client, part: str, query: dict[str, str]) -> None:
    execution = Execution.objects.first() or http.completed()
    asked = {name: text.encode("utf-8", "surrogatepass") for name, text in query.items()}
    assert api.get(one(execution, part), asked).status_code in {200, 400}
