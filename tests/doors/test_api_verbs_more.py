"""The verbs that say more than who and why: what became of a step, where to begin again, in which revision."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client, override_settings

from saga_app import Backoff, Saga, engine, ref, step, testing
from saga_app.models import Event, Execution
from tests.doors import http
from tests.doors.http import IN, ROOT, is_problem, one, post, saga_queries

pytestmark = pytest.mark.django_db

ALL = ("view", "suspend", "unwind", "skip", "resolve", "rerun", "fork", "move")
# status → verb → what it answers: a status code, or the code of the refusal
CONTRACT = {
    "pending": {"suspend": 200, "unwind": "not_stuck", "skip": "not_stuck", "rerun": "not_terminal"},
    "waiting": {"suspend": 200, "unwind": "not_stuck", "skip": "not_stuck", "rerun": "not_terminal"},
    "suspended": {"suspend": "suspended", "unwind": "not_stuck", "skip": "not_stuck", "rerun": "not_terminal"},
    "compensating": {"suspend": 200, "unwind": "not_stuck", "skip": "not_stuck", "rerun": "not_terminal"},
    "stuck": {"suspend": "stuck", "unwind": 200, "skip": 200, "rerun": "not_terminal"},
    "completed": {"suspend": "terminal", "unwind": "terminal", "skip": "terminal", "rerun": 201},
    "failed": {"suspend": "terminal", "unwind": "terminal", "skip": "terminal", "rerun": 201},
    "cancelled": {"suspend": "terminal", "unwind": "terminal", "skip": "terminal", "rerun": 201},
}
SAME = {"resolve": "skip", "move": "unwind", "fork": "rerun"}


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with testing.isolate_sagas():
        yield
    testing.clock.release()


@pytest.fixture
def api() -> Client:
    return http.client(*ALL)


def act(api: Client, execution: Execution, verb: str, **body: Any) -> Any:
    more = {
        "skip": {"path": execution.failing_path or "take", "happened": False},
        "resolve": {"path": execution.failing_path or "take"},
        "move": {"revision": 1},
        "fork": {"path": "take"},
    }
    said = {"reason": "because"} | ({} if verb in ("rerun", "fork") else {"version": execution.version})
    return post(api, one(execution, verb), {**said, **more.get(verb, {}), **body})


def rows(execution: Execution) -> list[object]:
    values = Execution.objects.filter(pk=execution.pk).values().get()
    return [values, list(execution.steps.values()), execution.events.count(), Execution.objects.count()]


@pytest.mark.parametrize("verb", ["suspend", "unwind", "skip", "rerun", *SAME])
@pytest.mark.parametrize("status", CONTRACT)
def test_each_verb_in_each_status(api: Client, status: str, verb: str) -> None:
    """As it says in the table; a refusal leaves all as it was, and its code says so where a status is not enough."""
    execution = IN[status]()
    before, expected = rows(execution), CONTRACT[status][SAME.get(verb, verb)]
    response = act(api, execution, verb)
    if verb in SAME and expected in (200, 201):
        expected = {"resolve": "nothing_to_resolve", "move": "definition_not_at_fault"}.get(
            verb, 201 if status == "completed" else "no_such_step"
        )
    if isinstance(expected, int):
        assert response.status_code == expected, response.content
        return
    is_problem(response, 409, expected)
    assert rows(execution) == before


class TestWhatTheyDo:
    def test_suspend_pauses(self, api: Client) -> None:
        execution = http.pending()
        act(api, execution, "suspend")
        testing.drain()
        assert Execution.objects.get(pk=execution.pk).status == "suspended"
        assert Event.objects.get(execution=execution, type="suspend").reason == "because"

    def test_unwind_gives_up(self, api: Client) -> None:
        execution = http.stuck()
        assert act(api, execution, "unwind").json()["version"] > execution.version
        testing.drain()
        now = Execution.objects.get(pk=execution.pk)
        assert (now.status, now.rollback_status) == ("failed", "completed")

    def test_skip_goes_on_behind_the_step_with_what_it_returned(self, api: Client) -> None:
        """JSON becomes the type that the step declares."""

        @step(attempts=1)
        def price() -> Decimal:
            raise ValueError

        execution = testing.run(Saga("s", price, on_failure="hold", output=ref("price")))
        assert act(api, execution, "skip", happened=True, output="9.90").status_code == 200
        testing.drain()
        assert Execution.objects.get(pk=execution.pk).output == Decimal("9.90")

    @pytest.mark.parametrize("output", ["x", [], {"a": 1}])
    def test_what_it_cannot_have_returned_is_refused(self, api: Client, output: Any) -> None:
        @step(attempts=1)
        def price() -> Decimal:
            raise ValueError

        execution = testing.run(Saga("s", price, on_failure="hold", output=ref("price")))
        before = rows(execution)
        problem = is_problem(act(api, execution, "skip", happened=True, output=output), 400, "output_invalid")
        assert [error["pointer"] for error in problem["errors"]] == ["/output"]
        assert rows(execution) == before

    def test_what_did_not_happen_returned_nothing(self, api: Client) -> None:
        problem = is_problem(act(api, http.stuck(), "skip", output=1), 400, "invalid")
        assert [error["pointer"] for error in problem["errors"]] == ["/output"]

    def test_resolve_goes_on_with_the_unwind(self, api: Client) -> None:
        @step(attempts=1)
        def first() -> None:
            """Not undone by its compensation."""

        @first.compensate(attempts=1, backoff=Backoff(first=0, jitter=0))
        def undo() -> None:
            raise OSError("never")

        execution = testing.run(Saga("s", first, http.fail))
        assert execution.status == "stuck"
        is_problem(act(api, execution, "resolve", path="fail"), 409, "nothing_to_resolve")
        assert act(api, execution, "resolve").status_code == 200
        testing.drain()
        assert Execution.objects.get(pk=execution.pk).rollback_status == "completed"

    def test_rerun_starts_it_again(self, api: Client) -> None:
        execution = http.completed()
        response = act(api, execution, "rerun", key="again")
        said = response.json()
        assert (response.status_code, said["status"], said["key"]) == (201, "pending", "again")
        assert api.get(response["Location"]).json()["input"]["sku"] == "A1"
        is_problem(act(api, execution, "rerun", key="again"), 409, "key_conflict")

    def test_what_todays_saga_does_not_take_is_a_conflict(self, api: Client) -> None:
        execution = http.completed()

        @step
        def other(colour: str) -> None:
            """Of another input."""

        Saga("buy", other, revision=2)
        before = rows(execution)
        is_problem(act(api, execution, "rerun"), 409, "invalid_input")
        assert rows(execution) == before

    def test_a_saga_that_is_gone_cannot_be_run_again(self, api: Client) -> None:
        execution = http.completed()
        with testing.isolate_sagas():
            is_problem(act(api, execution, "rerun"), 409, "unknown_saga")
            is_problem(act(api, execution, "fork"), 409, "unknown_revision")

    def test_fork_begins_at_a_step(self, api: Client) -> None:
        execution = testing.run(Saga("s", http.take, http.later.named("second"), input=http.Purchase), **http.GIVEN)
        engine.cancel(execution)
        execution = testing.run(Saga("t", http.take, http.take.named("other"), input=http.Purchase), **http.GIVEN)
        response = act(api, execution, "fork", path="other")
        assert response.status_code == 201
        new = Execution.objects.get(pk=response.json()["id"])
        assert response["Location"].endswith(f"/{new.pk}/")
        assert list(new.steps.values_list("path", "origin")) == [("take", execution.pk)]

    def test_move_goes_on_in_another_revision(self, api: Client) -> None:
        execution = left_behind()
        assert execution.stuck_reason == "definition_missing"
        is_problem(act(api, execution, "move", revision=7), 409, "unknown_revision")
        assert act(api, execution, "move", revision=2).json()["revision"] == 2
        testing.drain()
        assert Execution.objects.get(pk=execution.pk).status == "completed"


def left_behind() -> Execution:
    """One whose revision is gone; what ran fits revision 2."""
    with testing.isolate_sagas():
        execution = Saga("s", http.take, input=http.Purchase).start(**http.GIVEN)
    with testing.isolate_sagas(), override_settings(SAGA={"DEFINITION_GRACE": 0}):
        testing.drain()
    Saga("s", http.take, input=http.Purchase, revision=2)
    return Execution.objects.get(pk=execution.pk)


@pytest.mark.parametrize("verb", ["unwind", "skip", "resolve", "move"])
class TestVersion:
    def test_verbs_that_act_on_a_plan_must_carry_it(self, api: Client, verb: str) -> None:
        problem = is_problem(act(api, http.stuck(), verb, version=None), 400, "invalid")
        assert [error["pointer"] for error in problem["errors"]] == ["/version"]

    def test_a_stale_one_is_refused(self, api: Client, verb: str) -> None:
        execution = http.stuck()
        before = rows(execution)
        is_problem(act(api, execution, verb, version=execution.version - 1), 409, "version_changed")
        assert rows(execution) == before


@pytest.mark.parametrize("verb", ["skip", "resolve", "move"])
@pytest.mark.parametrize("reason", ["", "  "])
def test_a_reason_where_it_is_needed(api: Client, verb: str, reason: str) -> None:
    problem = is_problem(act(api, http.stuck(), verb, reason=reason), 400, "reason_required")
    assert [error["pointer"] for error in problem["errors"]] == ["/reason"]


@pytest.mark.parametrize(
    ("verb", "body", "blamed"),
    [
        ("skip", {"happened": "yes"}, "/happened"),
        ("skip", {"happened": 1}, "/happened"),
        ("skip", {"happened": None}, "/happened"),
        ("skip", {"path": 5}, "/path"),
        ("skip", {"path": "a\x00b"}, "/path"),
        ("skip", {"path": ""}, "/path"),
        ("resolve", {"path": "x" * 256}, "/path"),
        ("resolve", {"output": 1}, "/output"),
        ("move", {"revision": "2"}, "/revision"),
        ("move", {"revision": -1}, "/revision"),
        ("move", {"revision": 2**63}, "/revision"),
        ("move", {"revision": True}, "/revision"),
        ("rerun", {"version": 1}, "/version"),
        ("rerun", {"key": ""}, "/key"),
        ("fork", {"path": None}, "/path"),
        ("suspend", {"path": "take"}, "/path"),
        ("unwind", {"force": True}, "/force"),
    ],
)
def test_what_no_verb_takes_is_refused_by_its_place(api: Client, verb: str, body: Any, blamed: str) -> None:
    execution = http.stuck()
    before = rows(execution)
    problem = is_problem(act(api, execution, verb, **body), 400, "invalid")
    assert [error["pointer"] for error in problem["errors"]] == [blamed]
    assert rows(execution) == before


def test_a_step_that_is_not_there_has_a_nearest(api: Client) -> None:
    problem = is_problem(act(api, http.stuck(), "skip", path="fial"), 409, "no_such_step")
    assert "fail" in problem["detail"]


@pytest.mark.parametrize("verb", http.ALL_VERBS)
def test_an_execution_that_is_not_there(verb: str) -> None:
    api = http.client(*ALL, "resume", "abandon", "cancel", "signal")
    full = {
        "skip": {"path": "x", "happened": True, "output": 1, "version": 1},
        "resolve": {"path": "x", "version": 1},
        "move": {"revision": 1, "version": 1},
        "fork": {"path": "x"},
        "rerun": {},
        "signal": {"name": "x"},
        "approve": {"gate": "x", "values": {}},
        "reject": {"gate": "x"},
    }.get(verb, {"version": 1})
    for pk in ("01890a5d-ac96-774b-bcce-b302099a8057", "not-a-uuid", "%00"):
        is_problem(post(api, f"{ROOT}{pk}/{verb}/", {"reason": "because", **full}), 404, "not_found")


@pytest.mark.parametrize(("verb", "most"), [("suspend", 6), ("unwind", 9), ("skip", 9), ("rerun", 12), ("fork", 14)])
def test_a_verb_costs_so_many_statements(api: Client, verb: str, most: int) -> None:
    execution = {"suspend": http.pending, "unwind": http.stuck, "skip": http.stuck}.get(verb, http.completed)()
    queries = saga_queries(lambda: act(api, execution, verb))
    assert len(queries) <= most, queries


@pytest.mark.parametrize("verb", http.MORE_VERBS)
def test_bodies_that_are_none(verb: str) -> None:
    """Also those that are too deep, too large, or hold a NUL: never a 5xx, and nothing is changed."""
    api, execution = http.client(*ALL, "signal"), http.stuck()
    before = rows(execution)
    bodies = (b"null", b"[]", b"{", b"\xff", b'{"reason":NaN}', b'{"reason":"a","reason":"b"}', b"[" * 9999)
    for body in (*bodies, b'{"reason":"\\u0000"}', b'{"reason":"' + b"x" * 2_000_000 + b'"}'):
        response = post(api, one(execution, verb), body)
        assert 400 <= response.status_code < 500
        is_problem(response, response.status_code, response.json()["code"])
    assert rows(execution) == before
