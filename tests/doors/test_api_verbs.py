"""Resume, abandon and cancel over HTTP: one answer for each status, and what a refusal leaves alone."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from django.test import Client
from django.utils import translation

from saga_app import Saga, engine, step, testing
from saga_app.core.status import Status
from saga_app.models import Event, Execution
from tests.doors import http
from tests.doors.http import IN, ROOT, is_problem, one, post, saga_queries

pytestmark = pytest.mark.django_db

# status → verb → what it answers: a status after it, or the code of the refusal
CONTRACT = {
    "pending": {"resume": "not_waiting", "abandon": "not_stuck", "cancel": 200},
    "waiting": {"resume": 200, "abandon": "not_stuck", "cancel": 200},
    "suspended": {"resume": 200, "abandon": "not_stuck", "cancel": 200},
    "compensating": {"resume": 200, "abandon": "not_stuck", "cancel": "unwinding"},
    "stuck": {"resume": 200, "abandon": 200, "cancel": 200},
    "completed": {"resume": "terminal", "abandon": "terminal", "cancel": "terminal"},
    "failed": {"resume": "terminal", "abandon": "terminal", "cancel": "terminal"},
    "cancelled": {"resume": "terminal", "abandon": "terminal", "cancel": "terminal"},
}


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with testing.isolate_sagas():
        yield
    testing.clock.release()


@pytest.fixture
def api() -> Client:
    return http.client("resume", "abandon", "cancel", "view")


def act(api: Client, execution: Execution, verb: str, **body):
    return post(api, one(execution, verb), {"version": execution.version, "reason": "because", **body})


def rows(execution: Execution) -> list[object]:
    values = Execution.objects.filter(pk=execution.pk).values().get()
    return [values, list(execution.steps.values()), execution.events.count()]


def test_the_contract_has_every_status():
    """Running is the one that only a body can see: below."""
    assert set(CONTRACT) == set(IN) == set(Status) - {Status.RUNNING}


@pytest.mark.parametrize("verb", http.VERBS)
@pytest.mark.parametrize("status", CONTRACT)
def test_each_verb_in_each_status(api, status, verb):
    """200 with the execution as it is now, or 409 with the code of the refusal and nothing changed."""
    execution = IN[status]()
    assert execution.status == status
    before, expected = rows(execution), CONTRACT[status][verb]
    response = act(api, execution, verb)
    if expected == 200:
        now = Execution.objects.get(pk=execution.pk)
        assert response.status_code == 200, response.content
        said = response.json()
        assert (said["status"], said["version"]) == (now.status, now.version)
        assert now.version > execution.version
        assert said.keys().isdisjoint({"input", "output"})
    else:
        problem = is_problem(response, 409, expected)
        assert len(problem["detail"]) > len(expected), "a sentence"
        assert rows(execution) == before


@pytest.mark.parametrize(("verb", "expected"), [("resume", "not_waiting"), ("abandon", "not_stuck"), ("cancel", 200)])
def test_each_verb_while_a_body_runs(api, verb, expected):
    said = []

    @step(attempts=1)
    def busy() -> None:
        execution = Execution.objects.get()
        assert execution.status == "running"
        said.append(act(api, execution, verb))

    testing.run(Saga("s", busy))
    (response,) = said
    if expected == 200:
        assert response.status_code == 200
        assert Execution.objects.get().status == "cancelled"
    else:
        is_problem(response, 409, expected)


class TestWhatTheVerbsDo:
    def test_resume_tries_again(self, api):
        execution = http.stuck()
        said = act(api, execution, "resume").json()
        assert (said["status"], said["resume_count"]) == ("running", 1)
        with testing.replace(http.fail, lambda: None):
            testing.drain()
        assert Execution.objects.get(pk=execution.pk).status == "completed"

    def test_abandon_gives_up(self, api):
        said = act(api, http.stuck(), "abandon").json()
        assert (said["status"], said["rollback_status"]) == ("failed", "abandoned")
        assert said["error"] == {"type": "ValueError", "message": "it broke"}, "why it failed stays told"

    def test_cancel_undoes(self, api):
        execution = http.stuck()
        said = act(api, execution, "cancel").json()
        assert said["cancel_requested_at"] is not None
        testing.drain()
        now = Execution.objects.get(pk=execution.pk)
        assert (now.status, now.rollback_status) == ("cancelled", "completed")

    def test_past_the_pivot_nothing_is_cancelled(self, api):
        is_problem(act(api, http.stuck_past_pivot(), "cancel"), 409, "past_pivot")

    def test_a_second_cancel_is_told_so(self, api):
        execution = http.pending()
        act(api, execution, "cancel")
        is_problem(act(api, Execution.objects.get(), "cancel"), 409, "cancel_requested")

    @pytest.mark.parametrize("verb", http.VERBS)
    def test_who_and_why_are_in_the_history(self, api, verb):
        execution = http.stuck()
        act(api, execution, verb, reason="the bank said so")
        event = Event.objects.get(execution=execution, type=verb)
        assert event.actor.username == event.actor_name == "resume-abandon-cancel-view"
        assert event.reason == "the bank said so"

    def test_a_reason_keeps_its_letters(self, api):
        execution = http.stuck()
        act(api, execution, "resume", reason=" <b>été</b> \n\u202e")
        assert Event.objects.get(execution=execution, type="resume").reason == " <b>été</b> \n\u202e"


class TestVersion:
    @pytest.mark.parametrize("verb", http.VERBS)
    def test_a_stale_one_is_refused_and_says_who_was_first(self, api, verb):
        execution = http.stuck()
        engine.resume(execution, actor=http.user(name="anna"), reason="mended")
        testing.drain()  # stuck again, by now
        before = rows(execution)
        problem = is_problem(act(api, execution, verb), 409, "version_changed")
        assert "anna" in problem["detail"]
        assert rows(execution) == before

    @pytest.mark.parametrize("verb", ["resume", "abandon"])
    def test_verbs_that_act_on_a_plan_must_carry_it(self, api, verb):
        execution = http.stuck()
        before = rows(execution)
        for body in ({}, {"reason": "x"}, {"version": None}):
            problem = is_problem(post(api, one(execution, verb), body), 400, "invalid")
            assert [error["pointer"] for error in problem["errors"]] == ["/version"]
        assert rows(execution) == before

    def test_cancel_does_without(self, api):
        for body in ({}, b"", {"version": None}):
            assert post(api, one(http.pending(), "cancel"), body).status_code == 200

    @pytest.mark.parametrize("version", ["1", 1.0, True, -1, 2**63, 10**400, [], {}, "x"])
    @pytest.mark.parametrize("verb", http.VERBS)
    def test_it_is_a_whole_number(self, api, verb, version):
        execution = http.stuck()
        problem = is_problem(act(api, execution, verb, version=version), 400, "invalid")
        assert [error["pointer"] for error in problem["errors"]] == ["/version"]

    def test_a_version_of_the_future(self, api):
        is_problem(act(api, http.stuck(), "resume", version=2**63 - 1), 409, "version_changed")


class TestReason:
    @pytest.mark.parametrize("reason", ["", "  ", "\n"])
    def test_abandon_needs_one(self, api, reason):
        execution = http.stuck()
        before = rows(execution)
        problem = is_problem(act(api, execution, "abandon", reason=reason), 400, "reason_required")
        assert [error["pointer"] for error in problem["errors"]] == ["/reason"]
        assert rows(execution) == before

    @pytest.mark.parametrize("verb", http.VERBS)
    @pytest.mark.parametrize("reason", [5, None, [], {}, True, "a\x00b", "\ud800", "x" * 10_001])
    def test_it_is_a_text(self, api, verb, reason):
        execution = http.stuck()
        before = rows(execution)
        body = json.dumps({"version": execution.version, "reason": reason}).encode()
        problem = is_problem(post(api, one(execution, verb), body), 400, "invalid")
        assert {error["pointer"] for error in problem["errors"]} == {"/reason"}
        assert rows(execution) == before


@pytest.mark.parametrize("verb", http.VERBS)
class TestBadRequests:
    def test_an_execution_that_is_not_there(self, api, verb):
        for pk in ("01890a5d-ac96-774b-bcce-b302099a8057", "not-a-uuid", "%00"):
            body = {"version": 1, "reason": "because"}
            is_problem(post(api, f"{ROOT}{pk}/{verb}/", body), 404, "not_found")

    def test_bodies_that_are_none(self, api, verb):
        execution = http.stuck()
        before = rows(execution)
        for body in (
            b"null",
            b"[]",
            b'"x"',
            b"{",
            b"\xff",
            b'{"version":NaN}',
            b'{"version":1,"version":2}',
            b"[" * 9999,
        ):
            response = post(api, one(execution, verb), body)
            assert 400 <= response.status_code < 500
            is_problem(response, response.status_code, response.json()["code"])
        assert rows(execution) == before

    def test_a_misspelt_name(self, api, verb):
        problem = is_problem(act(api, http.stuck(), verb, reson="x"), 400, "invalid")
        assert [error["pointer"] for error in problem["errors"]] == ["/reson"]


@pytest.mark.parametrize(("verb", "most"), [("resume", 7), ("abandon", 9), ("cancel", 6)])
def test_a_verb_costs_so_many_statements(api, verb, most):
    """Its parent, the row under its lock, its records, what changed of both, the history, and the row as it is now."""
    execution = http.stuck()
    queries = saga_queries(lambda: act(api, execution, verb))
    assert len(queries) <= most, queries


def test_a_refusal_speaks_the_readers_language(api):
    """The code does not."""
    execution = http.pending()
    with translation.override("de"):
        is_problem(act(api, execution, "abandon"), 409, "not_stuck")


def test_of_two_requests_with_one_version_one_is_accepted(api):
    """The double click of two operators."""
    execution = http.stuck()
    assert act(api, execution, "resume").status_code == 200
    is_problem(act(api, execution, "resume"), 409, "version_changed")
    assert Event.objects.filter(execution=execution, type="resume").count() == 1
