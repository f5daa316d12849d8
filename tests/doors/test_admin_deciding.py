"""Approving and rejecting on their page: what one decides about, what is filled in, who may, and who was first."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django import forms
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client

from saga_app import Approval, Decision, ForEach, Saga, Wait, ref, testing
from saga_app.core import registry
from saga_app.models import Signal
from tests.doors import every_state
from tests.doors.confirm_page import hidden_fields, run_url, verb_url
from tests.doors.test_admin_gates import HOSTILE, Ruling, approval, limited, now, run, say, text_of_any
from tests.doors.test_admin_markup import wrong_in
from tests.doors.test_admin_pages import text_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_sagas():
    with registry.isolate():
        yield


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    return client


class TestDeciding:
    def test_an_approval_with_its_input(self, root: Client) -> None:
        execution = run(approval(input=Ruling), output=ref("boss"))
        filled = {"value-limit": "7", "value-fast": "true", "reason": HOSTILE}
        assert say(root, execution, "approve", "boss", **filled).status_code == 302
        decision = now(execution).output
        assert isinstance(decision, Decision)
        assert (decision.approved, decision.actor, decision.input) == (True, "root", Ruling(7, fast=True))
        assert LogEntry.objects.get().change_message.startswith("approve: ")

    def test_what_does_not_fit_is_said_at_its_field(self, root: Client) -> None:
        execution = run(approval(input=Ruling))
        page = say(root, execution, "approve", "boss", **{"value-limit": "many", "value-fast": ""})
        assert page.status_code == 200
        assert "many" in page.content.decode()
        assert "errorlist" in page.content.decode()
        assert not Signal.objects.exists()

    def test_a_rejection_asks_for_nothing(self, root: Client) -> None:
        execution = run(approval(input=Ruling))
        assert "limit" not in text_of(root.get(verb_url(execution, "reject"), {"gate": "boss"}))
        assert say(root, execution, "reject", "boss", reason="no").status_code == 302
        assert now(execution).status == "failed"

    def test_not_by_who_started_it(self, root: Client) -> None:
        execution = run(approval(four_eyes=True), actor=User.objects.get(username="root"))
        page = root.get(verb_url(execution, "approve"), {"gate": "boss"})
        assert "This cannot be done now. You started this, so somebody else has to decide" in text_of(page)
        assert 'type="submit" class="saga-button' not in page.content.decode()
        answer = root.post(verb_url(execution, "approve"), {"gate": "boss", "version": execution.version})
        assert answer.status_code == 409
        assert "somebody else has to decide" in text_of_any(answer)
        assert now(execution).status == "waiting"

    def test_what_one_decides_about(self, root: Client) -> None:
        """The input, who started it, and what was done so far; and not what the saga itself will be asked."""
        anna = User.objects.create_user("anna")
        nodes = [every_state.act("reserve", undo=False), approval()]
        execution = testing.run(Saga("gated", *nodes), note=every_state.HOSTILE, actor=anna)
        page = root.get(verb_url(execution, "approve"), {"gate": "boss"})
        told = text_of(page)
        assert "What you decide about Decision boss Started by anna Started 20" in told
        assert "Done so far Step Output Finished reserve {" in told
        assert "note" in told.partition("Input")[2]
        assert wrong_in(page) == []
        assert "asked of the saga itself" not in told

    def test_many_steps_are_told_in_part(self, root: Client) -> None:
        loop = ForEach("n", lambda: list(range(25)), every_state.act("a", undo=False))
        execution = testing.run(Saga("gated", loop, approval()), note="x")
        page = text_of(root.get(verb_url(execution, "approve"), {"gate": "boss"}))
        assert "6 steps before these" in page
        assert ("n[4]/a {" in page, "n[5]/a {" in page) == (False, True)

    def test_the_sagas_own_function_is_not_called_by_who_only_looks(self, root: Client) -> None:
        """It may be slow, and it is the project's: it is asked once, by whoever decides."""
        asked: list[str] = []

        def allow(actor: Any) -> bool:
            asked.append(actor.username)
            return False

        execution = run(Approval("boss", allow=allow))
        page = root.get(verb_url(execution, "approve"), {"gate": "boss"})
        assert "Whether you may decide is also asked of the saga itself" in text_of(page)
        root.get("/admin/saga_app/waitingapproval/")
        root.get(run_url(execution))
        assert asked == []
        answer = say(root, execution, "approve", "boss")
        assert (answer.status_code, asked) == (409, ["root"])
        assert "You may not decide at “boss”." in text_of_any(answer)

    def test_a_form_of_the_projects_with_its_own_widgets(self, root: Client) -> None:
        """Several inputs for one value; its checks run once, on what was typed."""

        class Terms(forms.Form):
            when = forms.SplitDateTimeField()
            note = forms.CharField(required=False)

            def clean_note(self) -> str:
                return f"{self.cleaned_data['note']}!"

        execution = run(approval(input=Terms), output=ref("boss"))
        filled = {"value-when_0": "2026-02-28", "value-when_1": "12:30", "value-note": "hi"}
        assert say(root, execution, "approve", "boss", **filled).status_code == 302
        given = now(execution).output.input
        assert given == {"when": datetime(2026, 2, 28, 12, 30, tzinfo=UTC), "note": "hi!"}

    def test_an_error_keeps_what_was_typed(self, root: Client) -> None:
        execution = run(approval(input=Ruling))
        page = say(root, execution, "approve", "boss", reason="a long reason", **{"value-limit": "many"})
        assert 'value="many"' in page.content.decode()
        assert "a long reason" in page.content.decode()
        assert "Correct what is marked below." in page.content.decode()

    def test_who_was_first_is_told(self, root: Client) -> None:
        execution = run(approval(), Wait("go"))
        late = hidden_fields(root.get(verb_url(execution, "reject"), {"gate": "boss"}))
        other = Client()
        other.force_login(User.objects.create_superuser("anna"))
        say(other, execution, "approve", "boss")
        answer = root.post(verb_url(execution, "reject"), {**late, "reason": "my reason"})
        assert answer.status_code == 409
        assert "is decided already: approved." in answer.content.decode()
        assert "my reason" in answer.content.decode()

    def test_not_without_the_permission(self) -> None:
        execution = run(approval())
        client = limited("signal_execution")
        assert client.get(verb_url(execution, "approve"), {"gate": "boss"}).status_code == 403
        assert client.post(verb_url(execution, "approve"), {"gate": "boss", "version": "0"}).status_code == 403
        assert not Signal.objects.exists()

    def test_with_the_permission_alone(self) -> None:
        execution = run(approval())
        assert say(limited("rerun_execution"), execution, "approve", "boss").status_code == 302
        assert now(execution).status == "completed"

    def test_not_twice(self, root: Client) -> None:
        execution = run(approval(), Wait("go"))
        say(root, execution, "approve", "boss")
        testing.drain()
        page = root.get(verb_url(execution, "reject"), {"gate": "boss"})
        assert "This cannot be done now. “boss” is decided already: approved." in text_of(page)

    @pytest.mark.parametrize("gate", ["", "go", "nothing", "boss/"])
    def test_no_such_approval(self, root: Client, gate: str) -> None:
        assert root.get(verb_url(run(approval(), Wait("go")), "approve"), {"gate": gate}).status_code == 404
