"""Decisions at an approval: who may, what they fill in, in time, once; a refused one leaves the gate as it was."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from django import forms
from django.contrib.auth.models import Permission, User
from django.db import transaction

from saga_app import Approval, Child, Decision, ForEach, Saga, VerbRefused, Wait, clock, engine, ref, step, testing
from saga_app.core import registry
from saga_app.models import Event, Execution, Signal
from saga_app.queue import inline
from saga_app.store import changes
from tests.gates import Gate, somebody
from tests.store.conftest import now, values
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)

PERMISSION = "saga_app.resume_execution"


@pytest.fixture(autouse=True)
def running() -> Iterator[None]:
    """The clock runs again when the test is over."""
    yield
    testing.clock.release()


@dataclass(frozen=True)
class Limits:
    """What somebody fills in."""

    amount: Decimal
    note: str = ""


class Form(forms.Form):
    """The same, as a form."""

    amount = forms.DecimalField(max_value=100)


def user(name: str, *, may: bool = True) -> User:
    """Somebody, with the permission or without."""
    made = User.objects.create_user(name)
    if may:
        made.user_permissions.add(Permission.objects.get(codename="resume_execution"))
    return User.objects.get(pk=made.pk)


def gated(gate: Approval | None = None, **start: Any) -> Execution:
    """An execution that waits for a decision."""
    gate = gate or Approval("check", permission=PERMISSION)
    last = step(name="b")(lambda check: check.approved)
    return inline.drive(Saga("gated", gate, last, output=ref("check")).start(**start))


def code(verb: Any, x: Execution, *args: Any, **options: Any) -> str:
    """The code with which it was refused; nothing where it was taken."""
    try:
        verb(x, *args, **options)
    except VerbRefused as refusal:
        return refusal.code
    return ""


def test_an_approval() -> None:
    """What the gate provides says who decided, when and why; the history too."""
    x, ann = gated(), user("ann")
    assert x.approve("check", actor=ann, reason="looks good").unread == 1
    x = inline.drive(x)
    decision = x.output
    assert isinstance(decision, Decision)
    assert (decision.approved, decision.actor, decision.reason, decision.input) == (True, "ann", "looks good", None)
    assert x.status == "completed" and x.steps.get(path="check").choice == "approved"
    event = Event.objects.get(execution=x, type="approve")
    assert (event.actor, event.reason, event.data) == (ann, "looks good", {"gate": "check"})
    assert (Signal.objects.get().sender, Signal.objects.get().consumed_by) == (ann, "check")


def test_a_rejection_fails_the_gate() -> None:
    """Where its saga says no more about it."""
    x = gated()
    x.reject("check", actor=user("ann"), reason="too much")
    x = inline.drive(x)
    assert (x.status, x.steps.get(path="check").choice) == ("failed", "rejected")


def test_who_may() -> None:
    """A permission, and what the saga's own function says of the actor and what it has so far."""
    ann, ben = user("ann"), user("ben", may=False)
    x = gated()
    assert [code(engine.approve, x, "check", actor=one) for one in (None, ben, ann)] == [
        "not_permitted", "not_permitted", "",
    ]  # fmt: skip
    asked: list[Any] = []

    def allow(actor: User, total: int) -> bool:
        asked.append((actor.username, total))
        return actor.username == "ben" and total == 3

    price = step(name="price", provides="total")(lambda: 3)
    x = inline.drive(Saga("own", price, Approval("check", allow=allow)).start())
    assert [code(engine.approve, x, "check", actor=one) for one in (ann, ben)] == ["not_permitted", ""]
    assert asked == [("ann", 3), ("ben", 3)]
    with pytest.raises(TypeError, match="actor is a user"):
        engine.reject(x, "check", actor="ann")


def test_four_eyes() -> None:
    """Whoever started it, or the execution whose child it is, does not decide."""
    gate = Approval("check", permission=PERMISSION, four_eyes=True)
    ann, ben = user("ann"), user("ben")
    x = gated(gate, actor=ann)
    assert [code(engine.approve, x, "check", actor=one) for one in (ann, ben)] == ["four_eyes", ""]
    parent = Saga("parent", Child(Saga("kid", gate))).start(actor=ann)
    inline.run_until_idle()
    child = Execution.objects.get(parent=parent)
    assert [code(engine.approve, child, "check", actor=one) for one in (ann, ben)] == ["four_eyes", ""]
    assert code(engine.approve, gated(gate), "check", actor=ann) == ""


@pytest.mark.parametrize("asks", [Limits, Form], ids=["dataclass", "form"])
def test_what_is_filled_in(asks: Any) -> None:
    """Checked at the door, field by field; who rejects may leave it out."""
    x, ann = gated(Approval("check", permission=PERMISSION, input=asks)), user("ann")
    before = values(x)
    for wrong, field in ({"amount": "much"}, "amount"), ({}, "amount"), ({"amount": Decimal(1), "mount": 1}, "mount"):
        with pytest.raises(VerbRefused, match=field) as refusal:
            x.approve("check", actor=ann, values=wrong)
        assert refusal.value.code == "input_invalid" and field in refusal.value.params["errors"]
    assert values(x) == before and not Signal.objects.exists()
    x.approve("check", actor=ann, values={"amount": Decimal("9.50")})
    filled = inline.drive(x).output.input
    assert filled == (Limits(Decimal("9.50")) if asks is Limits else {"amount": Decimal("9.50")})
    y = gated(Approval("check", permission=PERMISSION, input=asks))
    assert code(engine.reject, y, "check", actor=ann) == ""


def test_what_is_not_asked_for() -> None:
    """An approval without input= takes none, and what cannot be stored is no input."""
    ann = user("ann")
    assert code(engine.approve, gated(), "check", actor=ann, values={"a": 1}) == "input_invalid"
    x = gated(Approval("check", permission=PERMISSION, input=lambda thing: None))
    assert code(engine.approve, x, "check", actor=ann, values={"thing": object()}) == "input_invalid"


def test_gates_that_are_none() -> None:
    """A name that no approval has, a gate for signals, one not reached yet, an execution that has ended."""
    ann = user("ann")
    x = inline.drive(Saga("two", Wait("go"), Approval("check", permission=PERMISSION)).start())
    approve = partial(engine.approve, x, actor=ann)
    with pytest.raises(VerbRefused, match="“check”") as refusal:
        approve("chek")
    assert refusal.value.code == "no_such_gate"
    assert [code(engine.approve, x, gate, actor=ann) for gate in ("go", "check")] == ["not_an_approval", "not_open"]
    assert code(engine.signal, x, "check") == "is_approval"
    with registry.isolate():
        assert code(engine.approve, x, "check", actor=ann) == "unknown_saga"
    x.cancel()
    x = inline.drive(x)
    assert code(engine.approve, x, "check", actor=ann) == "terminal"


def test_it_is_decided_once() -> None:
    """Of eight people at once one decides, and the others are told; by a key the same one may come again."""
    x, ann = gated(), user("ann")
    codes = at_once(*[partial(code, engine.approve, x, "check", actor=ann) for _ in range(8)])
    assert sorted(codes) == ["", *["decided"] * 7]
    assert Signal.objects.count() == 1
    y = gated()
    made = [engine.approve(y, "check", actor=ann, key="k").is_new for _ in range(2)]
    y = inline.drive(y)
    assert [*made, engine.approve(y, "check", actor=ann, key="k").is_new] == [True, False, False]
    assert code(engine.reject, y, "check", actor=ann, key="k") == "terminal"


def test_a_second_click_does_not_decide_the_next_one() -> None:
    """In a loop each item has a gate of its own; while one is open, its name means that one; a path always does."""
    ann = user("ann")
    body = Approval("check", permission=PERMISSION)
    x = inline.drive(Saga("loop", ForEach("line", ref("input.lines"), body)).start(lines=[1, 2]))
    assert code(engine.approve, x, "line[0]/check", actor=ann) == ""
    assert code(engine.approve, x, "line[0]/check", actor=ann) == "decided"
    inline.drive(x)
    assert code(engine.approve, x, "line[0]/check", actor=ann) == "decided"
    assert code(engine.approve, x, "check", actor=ann) == ""
    assert inline.drive(x).status == "completed"


def test_gates_that_are_open_together_are_named_by_path() -> None:
    """In a concurrent loop a name means none of them: signals and decisions alike."""
    ann = user("ann")
    gate = Approval("check", permission=PERMISSION)
    x = inline.drive(Saga("side", ForEach("line", ref("input.lines"), gate, concurrency=2)).start(lines=[1, 2]))
    with pytest.raises(VerbRefused, match=r"line\[0\]/check, line\[1\]/check") as refusal:
        x.approve("check", actor=ann)
    assert refusal.value.code == "ambiguous_gate"
    assert [code(engine.approve, x, f"line[{n}]/check", actor=ann) for n in range(2)] == ["", ""]
    assert inline.drive(x).status == "completed"
    y = inline.drive(Saga("w", ForEach("line", ref("input.lines"), Wait("go"), concurrency=2)).start(lines=[1, 2]))
    with pytest.raises(VerbRefused, match=r"line\[0\]/go, line\[1\]/go") as refusal:
        y.signal("go")
    assert refusal.value.code == "ambiguous_gate"
    assert [code(engine.signal, y, f"line[{n}]/go") for n in range(2)] == ["", ""]
    assert inline.drive(y).status == "completed"


@pytest.mark.parametrize(("milliseconds", "answer"), [(-1, ""), (0, ""), (1, "too_late")])
def test_the_deadline(milliseconds: int, answer: str) -> None:
    """Design §12. By the moment at which it came; one that is late is refused, and leaves nothing."""
    testing.clock.set(clock.now())
    x, ann = gated(Approval("check", permission=PERMISSION, timeout=1)), user("ann")
    testing.clock.forward(1 + milliseconds / 1000)
    assert code(engine.approve, x, "check", actor=ann) == answer
    assert Signal.objects.exists() == (answer == "")
    testing.clock.forward(1)
    assert inline.drive(x).status == ("completed" if answer == "" else "failed")
    assert code(engine.approve, x, "check", actor=ann) == "terminal"


def test_one_that_waits_for_the_lock_until_the_deadline_is_late() -> None:
    """The moment counts at which it is stored, under the lock: a timeout that was first had not seen it."""
    x, ann = gated(Approval("check", permission=PERMISSION, timeout=1.2)), user("ann")
    locked = Gate()

    def hold() -> None:
        with transaction.atomic():
            changes.lock_row(x.pk, "default")
            locked()

    with somebody(hold):
        locked.reached()
        threading.Timer(1.5, locked.open).start()
        assert code(engine.approve, x, "check", actor=ann) == "too_late"
    assert not Signal.objects.exists() and now(x).unread == 0


def test_the_version_that_was_seen() -> None:
    """Who says which version they saw is refused when it has moved on."""
    x, ann = gated(), user("ann")
    seen = x.version
    engine.suspend(x)
    assert code(engine.approve, x, "check", actor=ann, version=seen) == "version_changed"
    assert code(engine.approve, x, "check", actor=ann, version=now(x).version) == ""
