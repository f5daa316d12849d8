"""What a run page says of gates, children, queues and milestones; and the pages on which people open gates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from saga_app import (
    Approval,
    Child,
    ForEach,
    Milestone,
    Saga,
    Sleep,
    Wait,
    executor,
    ref,
    step,
    testing,
)
from saga_app.core import registry
from saga_app.models import Execution, Signal
from saga_app.store.transactions import inside_transactions
from tests.doors import every_state
from tests.doors.confirm_page import hidden_fields, run_url, verb_url
from tests.doors.test_admin_pages import text_of

pytestmark = pytest.mark.django_db
HOSTILE = every_state.HOSTILE.replace("\x00", "").replace("\ud800", "")


@dataclass
class Ruling:
    limit: int
    fast: bool = False


@pytest.fixture(autouse=True)
def own_sagas():
    with registry.isolate():
        yield
    testing.clock.release()


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    return client


def limited(*permissions: str) -> Client:
    """Somebody on the staff who may do just that."""
    person = User.objects.create_user("limited", is_staff=True)
    person.user_permissions.set(Permission.objects.filter(codename__in=["view_execution", *permissions]))
    made = Client()
    made.force_login(person)
    return made


def run(*nodes: Any, actor: Any = None, **options: Any) -> Execution:
    return testing.run(Saga("gated", *nodes, **options), actor=actor)


def told(client: Client, execution: Execution) -> str:
    return text_of(client.get(run_url(execution)))


def approval(**options: Any) -> Approval:
    return Approval("boss", permission="saga_app.rerun_execution", timeout=600, **options)


def say(client: Client, execution: Execution, verb: str, gate: str, **filled: str) -> Any:
    """Open the page, fill it in, send it."""
    page = client.get(verb_url(execution, verb), {"gate": gate})
    assert page.status_code == 200
    return client.post(verb_url(execution, verb), {**hidden_fields(page), **filled})


def now(execution: Execution) -> Execution:
    testing.drain()
    return Execution.objects.get(pk=execution.pk)


class TestTheRunPage:
    def test_a_signal_and_its_time(self, root: Client) -> None:
        execution = run(Wait("go", timeout=600), timeout=3600)
        page = told(root, execution)
        assert "Waits for Step For Until You can go the signal “go” 20" in page
        assert "Send it…" in page
        assert "Deadline" in page

    def test_a_signal_without_a_time(self, root: Client) -> None:
        assert "no time is set" in told(root, run(Wait("go")))

    def test_a_decision_and_who_may_make_it(self, root: Client) -> None:
        execution = run(approval())
        assert "the decision of somebody with the permission “saga_app.rerun_execution”" in told(root, execution)
        assert "Approve… Reject…" in told(root, execution)
        assert "Approve…" not in told(limited(), execution)

    def test_a_sleep(self, root: Client) -> None:
        assert "sleep its time 20" in told(root, run(Sleep(600)))

    def test_a_child_and_its_parent(self, root: Client) -> None:
        execution = run(Child(Saga("kid", Wait("go"))))
        child = execution.children.get()
        assert f"kid its child : kid {child.pk} waiting" in told(root, execution)
        assert "Children 1 waiting" in told(root, execution)
        assert f"Parent gated {execution.pk} waiting kid" in told(root, child)
        page = root.get(run_url(execution)).content.decode()
        assert page.count(f'href="{run_url(child)}"') == 3  # waited for, among the children, among the steps
        assert f'href="{run_url(execution)}"' in root.get(run_url(child)).content.decode()
        everyone = f"/admin/saga_app/execution/?parent__id__exact={execution.pk}"
        assert everyone in page
        assert root.get(everyone).content.decode().count("kid") > 0

    def test_a_child_that_cannot_be_undone(self, root: Client) -> None:
        """The parent's page leads to what has to be acted upon."""
        kid = Saga("kid", every_state.act("charge"))
        every_state.down.clear()
        every_state.down.update(["~charge", "ship"])
        saga = Saga("gated", Child(kid).bind(note="x"), every_state.act("ship"))
        execution = testing.run(saga, note="x")
        assert (execution.status, execution.stuck_reason) == ("stuck", "child_stuck")
        page = told(root, execution)
        assert "Stuck: a child cannot be undone. kid" in page
        assert f"its child : kid {execution.children.get().pk} stuck a compensation failed" in page
        assert "It went back because a step failed. OSError: ship is down" in page

    def test_many_children_are_shown_in_part(self, root: Client) -> None:
        execution = run(ForEach("n", lambda: list(range(25)), Child(Saga("kid", Wait("go"))), concurrency=25))
        page = told(root, execution)
        assert "Children 25 waiting" in page
        assert "and 5 more" in page
        assert page.count(" kid ") < 100

    def test_a_queue_that_nobody_serves(self, root: Client) -> None:
        @step(queue="labels")
        def label() -> None:
            """Never called: nobody serves its queue here."""

        execution = Saga("gated", label).start()
        with inside_transactions():
            executor.drive_next(holder="here:1", queues=("",))
        page = told(root, execution)
        assert "label a worker of the queue “labels” No worker serves this queue." in page
        assert "Q_CLUSTER_NAME=labels manage.py qcluster" in page
        assert "label queue labels … in a queue" in page.replace("in a queue 0/3", "… in a queue")

    def test_what_was_chosen_and_what_was_passed(self, root: Client) -> None:
        items = ForEach("n", lambda: [1, 2], every_state.act("a", undo=False).named("a"), Milestone("safe"))
        execution = testing.run(Saga("gated", items), note="x")
        page = told(root, execution)
        assert "Milestones, the latest first n[1]/safe , n[0]/safe" in page
        assert "2 items" in page

    def test_what_rests_at_a_milestone_is_not_called_undone(self, root: Client) -> None:
        every_state.down.clear()
        every_state.down.add("ship")
        saga = Saga("gated", every_state.act("charge"), Milestone("safe"), every_state.act("ship"))
        page = told(root, testing.run(saga, note="x"))
        assert "Failed, rolled back to a milestone." in page
        assert "Rested at safe" in page
        assert "Nothing is left undone." in page

    def test_the_signals_that_came(self, root: Client) -> None:
        execution = run(Wait("go"), Wait("on"))
        execution.signal("go", {"hostile": HOSTILE}, key="k1", actor=User.objects.get(username="root"))
        execution.signal("go", 2)
        testing.drain()
        page = told(root, execution)
        assert "Signals 1 not read" in page
        assert "go – – not yet 2" in page
        assert "go k1 root go {" in page
        assert "<img src=x" not in root.get(run_url(execution)).content.decode()

    def test_attempts_are_told_of_what_is_called(self, root: Client) -> None:
        execution = run(Wait("go"))
        assert "attempt" not in told(root, execution).partition("Waits for")[0]
        assert "1/1" not in root.get("/admin/saga_app/execution/").content.decode()


class TestSignals:
    def test_one_is_sent(self, root: Client) -> None:
        execution = run(Wait("go"), output=ref("go"))
        answer = say(root, execution, "signal", "go", payload='{"a": 1}', key="k", reason="it came")
        assert answer.status_code == 302
        assert now(execution).output == {"a": 1}
        assert Signal.objects.get().key == "k"

    def test_a_gate_of_a_loop_by_its_path(self, root: Client) -> None:
        execution = run(
            ForEach("n", lambda: [1, 2], Wait("go"), concurrency=2).named(provides="all"), output=ref("all")
        )
        for number in (1, 0):
            assert say(root, execution, "signal", f"n[{number}]/go", payload=str(number)).status_code == 302
        assert now(execution).output == [0, 1]

    def test_what_is_no_json_is_said(self, root: Client) -> None:
        execution = run(Wait("go"))
        page = say(root, execution, "signal", "go", payload="{")
        assert "A text needs quotation marks" in text_of_any(page)
        assert not Signal.objects.exists()

    def test_a_name_that_nothing_waits_for(self, root: Client) -> None:
        execution = run(Wait("go"))
        page = say(root, execution, "signal", "goo")
        assert page.status_code == 409
        assert "Did you mean “go”?" in text_of_any(page)

    def test_one_is_sent_before_anything_waits_for_it(self, root: Client) -> None:
        """It is kept for the gate to come. Its name is asked for, and can be mended."""
        execution = run(Wait("go"), Wait("on"), output=ref("on"))
        assert f'href="{verb_url(execution, "signal")}"' in root.get(run_url(execution)).content.decode()
        missing = root.post(verb_url(execution, "signal"), {"version": 0, "gate": ""})
        assert "This field is required." in text_of_any(missing) and "go, on" in text_of_any(missing)
        refused = root.post(verb_url(execution, "signal"), {"version": 0, "gate": "onn"})
        assert "Did you mean “on”?" in text_of_any(refused)
        assert '<input type="text" name="gate" value="onn"' in refused.content.decode()
        assert root.post(verb_url(execution, "signal"), {"version": 0, "gate": "on", "payload": "7"}).status_code == 302
        say(root, execution, "signal", "go")
        assert now(execution).output == 7

    def test_what_listens_to_nothing_offers_none(self, root: Client) -> None:
        assert "Signal…" not in told(root, run(Sleep(3600)))
        ended = run(Wait("go"))
        ended.cancel()
        testing.drain()
        assert "Signal…" not in told(root, ended)

    def test_not_without_the_permission(self) -> None:
        execution = run(Wait("go"))
        page = told(limited("cancel_execution"), execution)
        assert "Send it…" not in page and "Signal…" not in page
        assert Client().get(verb_url(execution, "signal"), {"gate": "go"}).status_code == 302  # to the login


def text_of_any(response: Any) -> str:
    response.status_code = 200
    return text_of(response)
