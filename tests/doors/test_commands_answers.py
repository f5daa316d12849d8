"""`manage.py saga signal`, `approve`, `reject`, `move` and `fork`: what they do, and what they refuse."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from saga_app import Approval, Saga, Wait, ref, step, testing
from saga_app.models import Event, Execution, Signal
from tests.doors import http
from tests.doors.shell import misspelt, refusal, saga, saga_json

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with testing.isolate_sagas():
        yield
    testing.clock.release()


@step(attempts=1)
def echo(paid: Any = None) -> Any:
    return paid


def started(*nodes: Any, **options: Any) -> Execution:
    x = Saga("s", *nodes, **options).start()
    testing.drain()
    x.refresh_from_db()
    return x


def driven(x: Execution) -> Execution:
    testing.drain()
    x.refresh_from_db()
    return x


class TestSignal:
    def waiting(self) -> Execution:
        return started(Wait("paid"), echo, output=ref("echo"))

    def test_what_it_brings(self, monkeypatch: pytest.MonkeyPatch) -> None:
        x = self.waiting()
        said = saga("signal", x.pk, "paid", "--payload", '{"by": ["card", null]}', "--reason", "a webhook")
        assert said == f"signal: accepted. {x.pk} is waiting.\n"
        assert driven(x).output == {"by": ["card", None]}
        assert Event.objects.get(type="signal").reason == "a webhook"
        y = self.waiting()
        monkeypatch.setattr(sys, "stdin", io.StringIO("7"))
        assert saga_json("signal", y.pk, "paid", "--payload", "-")["id"] == str(y.pk)
        assert driven(y).output == 7

    def test_nothing_and_once(self) -> None:
        x = self.waiting()
        for _ in range(2):
            saga("signal", x.pk, "paid", "--key", "k1")
        assert Signal.objects.count() == 1
        assert driven(x).output is None

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["paid", "--payload", "{"], "--payload is no JSON"),
            (["paid", "--payload", "NaN"], "--payload is no JSON"),
            (["", "--payload", "1"], "name"),
            (["paid", "--key", ""], "key"),
            (["paid", "--as", "bob"], 'No user is called "bob"'),
        ],
    )
    def test_what_does_not_fit(self, words: list[str], said: str) -> None:
        assert said in refusal("signal", self.waiting().pk, *words)
        assert not Signal.objects.exists()

    def test_refusals(self) -> None:
        x = self.waiting()
        saga("signal", x.pk, "paid")
        assert "It has ended" in refusal("signal", driven(x).pk, "paid")
        assert "no id" in refusal("signal", "x", "paid")
        misspelt("signal", x.pk)


class TestApproval:
    def waiting(self, **options: Any) -> Execution:
        gate = Approval("boss", allow=lambda actor: actor.get_username() == "anna", on_reject="continue", **options)
        return started(gate, output=ref("boss"))

    @pytest.mark.parametrize(("verb", "approved"), [("approve", True), ("reject", False)])
    def test_each(self, verb: str, approved: bool) -> None:
        http.user(name="anna")
        x = self.waiting()
        said = saga(verb, x.pk, "boss", "--as", "anna", "--reason", "it is fine", "--seen", x.version)
        assert said == f"{verb}: accepted. {x.pk} is waiting.\n"
        event = Event.objects.get(type=verb)
        assert (event.actor_name, event.reason) == ("anna", "it is fine")
        assert driven(x).output.approved is approved

    def test_what_it_asks_for(self) -> None:
        http.user(name="anna")

        def asks(limit: int) -> None: ...

        x = self.waiting(input=asks)
        assert "limit" in refusal("approve", x.pk, "boss", "--as", "anna", "--values", '{"limit": "x"}')
        assert "takes an object" in refusal("approve", x.pk, "boss", "--as", "anna", "--values", "[]")
        saga("approve", x.pk, "boss", "--as", "anna", "--values", '{"limit": 5}')
        assert driven(x).output.input == {"limit": 5}

    def test_refusals(self) -> None:
        http.user(name="bob")
        x = self.waiting()
        assert refusal("approve", x.pk, "boss", "--as", "bob")
        assert refusal("approve", x.pk, "boss")
        assert refusal("approve", x.pk, "bos", "--as", "bob")
        assert driven(x).status == "waiting"
        misspelt("reject", x.pk)


class TestMoveAndFork:
    def test_a_move(self) -> None:
        http.user(name="anna")
        x = http.stuck()
        Execution.objects.filter(pk=x.pk).update(stuck_reason="definition_missing")
        with testing.isolate_sagas():
            Saga("hold", http.take, http.fail, input=http.Purchase, on_failure="hold", revision=2)
            assert "Say why" in refusal("move", x.pk, 2)
            assert "knows no revision 3 of hold. It knows: 2" in refusal("move", x.pk, 3, "--reason", "gone")
            said = saga("move", x.pk, 2, "--reason", "gone", "--actor", "anna", "--seen", x.version)
        assert said == f"move: accepted. {x.pk} is running.\n"
        event = Event.objects.get(type="move")
        assert (event.actor_name, event.data) == ("anna", {"from": 1, "to": 2})
        assert "not stuck" in refusal("move", x.pk, 2, "--reason", "gone")
        misspelt("move", x.pk, "two")

    def test_a_fork(self) -> None:
        old = started(echo, echo.named("again"), output=ref("again"))
        said = saga("fork", old.pk, "again", "--key", "k", "--reason", "once more")
        new = Execution.objects.exclude(pk=old.pk).get()
        assert said == f"Forked as {new.pk}.\n"
        assert new.key == "k"
        assert driven(new).status == "completed"
        assert "taken over by an earlier fork" in refusal("fork", old.pk, "again")
        assert "Did you mean" in refusal("fork", new.pk, "agian")
        assert saga_json("fork", old.pk, "echo")["is_new"] is True
        misspelt("fork", old.pk)
