"""Forking and moving from the page: what is chosen, what is shown before, who may, and what it leaves on record."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client, override_settings

from saga_app import Saga, testing
from saga_app.core import registry
from saga_app.core.verbs import VERBS
from saga_app.models import Event, Execution
from tests.doors import every_state
from tests.doors.confirm_page import hidden_fields, run_url, verb_url
from tests.doors.test_admin_markup import wrong_in
from tests.doors.test_admin_pages import text_of
from tests.doors.test_admin_permissions import everything, somebody

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_sagas():
    with registry.isolate():
        yield


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    return client


def ended() -> Execution:
    """The first two were done and have no compensation; the last one failed."""
    every_state.down.clear()
    every_state.down.add("ship")
    nodes = [every_state.act(name, undo=False) for name in ("reserve", "charge", "ship")]
    return testing.run(Saga("order", *nodes), note=every_state.HOSTILE, key="order-1")


def missing(*revisions: int) -> Execution:
    """Stuck without its definition; since then those revisions of it were deployed."""
    with registry.isolate():
        execution = Saga("order", every_state.act("reserve"), every_state.act("charge")).start(note="x")
        every_state.down.clear()
        every_state.down.add("charge")
    with registry.isolate(), override_settings(SAGA={"DEFINITION_GRACE": 0}):
        testing.drain()
    for number in revisions:
        Saga("order", every_state.act("reserve"), every_state.act("charge"), revision=number)
    every_state.down.clear()
    return every_state.again(execution)


def moved_off() -> Execution:
    """Stuck in the middle, its revision gone; 2 fits what ran, 3 does not."""
    with registry.isolate():
        every_state.down.clear()
        saga = Saga("order", every_state.act("reserve"), every_state.act("charge", wait=every_state.LATER))
        every_state.down.add("charge")
        execution = testing.run(saga, note="x")
    every_state.down.clear()
    execution.resume()
    with override_settings(SAGA={"DEFINITION_GRACE": 0}):
        testing.drain()
    Saga("order", every_state.act("reserve"), every_state.act("charge"), every_state.act("ship"), revision=2)
    Saga("order", every_state.act("other"), revision=3)
    return every_state.again(execution)


def fill(client: Client, execution: Execution, verb: str, path: str = "", **filled: str) -> Any:
    page = client.get(verb_url(execution, verb), {"path": path} if path else {})
    assert page.status_code == 200
    form = page.context["form"]
    key = {"key": form["key"].value()} if "key" in form.fields else {}
    return client.post(verb_url(execution, verb), {**hidden_fields(page), **key, "reason": "so", **filled})


class TestFork:
    def test_the_step_is_chosen_and_what_is_taken_over_shown_first(self, root: Client) -> None:
        execution = ended()
        page = root.get(verb_url(execution, "fork"))
        assert "From which step on" in text_of(page)
        assert '<option value="ship" selected>' in page.content.decode()  # where it failed
        assert "<textarea" not in page.content.decode()  # nothing can be sent before that was looked at
        chosen = text_of(root.get(verb_url(execution, "fork"), {"path": "ship"}))
        assert "Taken over, from “ship” on reserve completed charge completed" in chosen
        first = text_of(root.get(verb_url(execution, "fork"), {"path": "reserve"}))
        assert "Nothing: no step ran before it." in first

    def test_it_goes_on_as_another_one(self, root: Client) -> None:
        execution = ended()
        every_state.down.clear()
        answer = fill(root, execution, "fork", "ship")
        assert answer.status_code == 302
        new = Execution.objects.exclude(pk=execution.pk).get()
        assert answer.url == run_url(new)
        testing.drain()
        assert every_state.again(new).status == "completed"
        assert new.key.startswith("order-1-")
        assert new.steps.get(path="charge").origin == execution.pk
        event = Event.objects.get(execution=execution, type="fork")
        assert (event.actor_name, event.reason, event.data["path"]) == ("root", "so", "ship")
        assert LogEntry.objects.get().change_message == "fork: so"

    def test_a_second_click_forks_nothing(self, root: Client) -> None:
        execution = ended()
        page = root.get(verb_url(execution, "fork"), {"path": "ship"})
        filled = {**hidden_fields(page), "key": page.context["form"]["key"].value(), "reason": ""}
        assert root.post(verb_url(execution, "fork"), filled).status_code == 302
        again = root.post(verb_url(execution, "fork"), filled)
        assert (again.status_code, "was taken over by an earlier fork" in again.content.decode()) == (409, True)
        assert Execution.objects.count() == 2

    def test_what_cannot_be_taken_over_is_said_before(self, root: Client) -> None:
        """It was undone: only a fork from there is possible."""
        execution = every_state.make("failed")
        page = root.get(verb_url(execution, "fork"), {"path": "ship"})
        assert "This cannot be done now. “reserve” was undone" in text_of(page)
        assert "Fork</button>" not in page.content.decode()
        assert fill(root, execution, "fork", "reserve").status_code == 302

    @pytest.mark.parametrize("path", ["nothing", "shipp", "<img src=x>", "a[", "x" * 300])
    def test_a_step_that_is_not_there(self, root: Client, path: str) -> None:
        execution = ended()
        page = root.get(verb_url(execution, "fork"), {"path": path})
        assert "It has no step record" in text_of(page)
        assert wrong_in(page) == []
        answer = root.post(verb_url(execution, "fork"), {"version": 0, "path": path, "reason": ""})
        assert answer.status_code == 409
        assert Execution.objects.count() == 1

    def test_no_step_at_all(self, root: Client) -> None:
        execution = ended()
        answer = root.post(verb_url(execution, "fork"), {"version": 0, "reason": ""})
        assert (answer.status_code, Execution.objects.count()) == (200, 1)
        assert "From which step on" in text_of(answer)

    def test_what_has_not_ended(self, root: Client) -> None:
        assert "It has not ended yet" in text_of(root.get(verb_url(every_state.make("waiting"), "fork")))


class TestMove:
    def test_the_revisions_that_fit_are_offered(self, root: Client) -> None:
        execution = moved_off()
        assert (execution.status, execution.stuck_reason) == ("stuck", "definition_missing")
        page = root.get(verb_url(execution, "move"))
        assert list(page.context["form"].fields["revision"].choices) == [(2, "Revision 2")]
        assert "Revision 3 What ran does not fit revision 3" in text_of(page)

    def test_it_goes_on_there(self, root: Client) -> None:
        execution = moved_off()
        assert fill(root, execution, "move", revision="2").status_code == 302
        testing.drain()
        execution = every_state.again(execution)
        assert (execution.status, execution.revision) == ("completed", 2)
        event = Event.objects.get(execution=execution, type="move")
        assert (event.actor_name, event.reason, event.data) == ("root", "so", {"from": 1, "to": 2})

    @pytest.mark.parametrize("revision", ["", "1", "3", "x", "999"])
    def test_a_revision_that_does_not_fit(self, root: Client, revision: str) -> None:
        execution = moved_off()
        answer = root.post(
            verb_url(execution, "move"), {"version": execution.version, "reason": "so", "revision": revision}
        )
        assert (answer.status_code, "errorlist" in answer.content.decode()) == (200, True)
        assert every_state.again(execution).version == execution.version

    def test_none_that_fits(self, root: Client) -> None:
        execution = missing()
        page = root.get(verb_url(execution, "move"))
        assert "No revision that is known here fits." in text_of(page)
        assert "Move</button>" not in page.content.decode()

    def test_who_was_first(self, root: Client) -> None:
        execution = missing(1)
        page = root.get(verb_url(execution, "move"))
        assert list(page.context["form"].fields["revision"].choices) == [(1, "Revision 1, as it is defined now")]
        fill(root, execution, "move", revision="1")
        late = {**hidden_fields(page), "revision": "1", "reason": "my long reason"}
        answer = root.post(verb_url(execution, "move"), late)
        assert answer.status_code == 409
        assert "root was first: move" in answer.content.decode()
        assert "my long reason" in answer.content.decode()

    def test_code_that_is_not_at_fault(self, root: Client) -> None:
        page = root.get(verb_url(every_state.make("stuck held"), "move"))
        assert "It is not stuck because of its definition" in text_of(page)


@pytest.mark.parametrize(("verb", "make"), [("fork", ended), ("move", moved_off)])
def test_they_are_on_the_page_for_who_may(verb: str, make: Any) -> None:
    """Every verb is reached from the page of its execution."""
    execution = make()
    assert (
        verb_url(execution, verb)
        in somebody("view_execution", f"{verb}_execution").get(run_url(execution)).content.decode()
    )
    viewer = somebody("view_execution")
    assert f"“saga_app.{verb}_execution”" in viewer.get(run_url(execution)).content.decode()


@pytest.mark.parametrize(("verb", "make"), [("fork", ended), ("move", moved_off)])
def test_nobody_without_the_permission(verb: str, make: Any) -> None:
    execution = make()
    before = everything()
    others = [f"{other}_execution" for other in (*VERBS, "start", "fork", "move") if other != verb]
    filled = {"version": execution.version, "reason": "r", "path": "ship", "revision": "2"}
    strangers = [
        (Client(), 302),
        (somebody("view_execution", f"{verb}_execution", staff=False), 302),
        (somebody(), 403),
        (somebody("view_execution"), 403),
        (somebody(f"{verb}_execution"), 403),
        (somebody("view_execution", *others), 403),
    ]
    for client, status in strangers:
        assert client.get(verb_url(execution, verb)).status_code == status
        assert client.post(verb_url(execution, verb), filled).status_code == status
    for method in ("get", "head", "put", "delete", "options"):
        getattr(somebody("view_execution", f"{verb}_execution"), method)(f"{verb_url(execution, verb)}?path=ship")
    assert everything() == before
