"""Hazards of approvals: who may decide, when, with what; and what is kept of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AnonymousUser, Permission, User
from django.contrib.contenttypes.models import ContentType

from saga_app import Approval, Decision, ForEach, Saga, VerbRefused, ref
from saga_app.models import Execution
from tests.engine.drives import DATABASES
from tests.engine.flows import later, run, settled
from tests.harness import (
    DONE,
    OK,
    UNWOUND,
    calls,
    do,
    end,
    error,
    events,
    held,
    now,
    ok,
    order,
    rec,
    seen,
    told,
    waiting_at,
)
from tests.shared_clock import clock

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]

T = datetime(2024, 5, 1, tzinfo=UTC)


@dataclass
class Amount:
    amount: int


def user(name: str, *permissions: str) -> User:
    """A user with these permissions of the shop."""
    made = get_user_model().objects.create_user(username=name)
    kind, _ = ContentType.objects.get_or_create(app_label="shop", model="order")
    for one in permissions:
        right, _ = Permission.objects.get_or_create(codename=one, content_type=kind, defaults={"name": one})
        made.user_permissions.add(right)
    return made


def gated(**options: Any) -> Saga[Any]:
    options = {"permission": "shop.approve"} | options
    return Saga("g", do("a", comp=OK), Approval("check", **options), do("b", takes="check"))


def waiting(**options: Any) -> Execution:
    x = run(gated(**options))
    assert waiting_at(x) == "check"
    return x


def test_a_decision_before_its_gate() -> None:
    """Hazard B110. Nobody has asked yet, so nobody is answered; the gate that comes later is closed."""
    anna = user("anna", "approve")
    x = gated().start()
    assert told(x.approve, "check", actor=anna) == "not_open"
    x = settled(x)
    assert waiting_at(x) == "check" and now(x).unread == 0


def test_who_may() -> None:
    """Hazard B111. Hazard B113. Hazard B119. Whoever lacks a part of it is refused, and the gate stays closed."""
    x = waiting(allow=lambda actor: actor.username == "anna")
    anna, bob, anna_too = user("anna"), user("bob", "approve"), user("anna2", "approve")
    for one in (anna, bob, anna_too, AnonymousUser(), None):
        assert told(x.approve, "check", actor=one) == "not_permitted" == told(x.reject, "check", actor=one)
    assert told(x.signal, "check", 1) == "is_approval"
    assert waiting_at(settled(x)) == "check"
    anna.user_permissions.add(Permission.objects.get(codename="approve"))
    x.approve("check", actor=get_user_model().objects.get(pk=anna.pk))
    assert end(settled(x)) == DONE


def test_four_eyes() -> None:
    """Hazard A42. Hazard B109. Who started it may not approve it; anybody else who may, may."""
    anna, bob = user("anna", "approve"), user("bob", "approve")
    x = settled(gated(four_eyes=True).start(actor=anna))
    assert told(x.approve, "check", actor=anna) == "four_eyes"
    x.approve("check", actor=bob)
    assert end(settled(x)) == DONE
    y = settled(gated().start(actor=anna))
    y.approve("check", actor=anna)
    assert end(settled(y)) == DONE


def test_an_execution_that_nobody_started() -> None:
    """Hazard B112. It has no owner to keep out: but who decides is always somebody."""
    anna = user("anna", "approve")
    x = waiting(four_eyes=True)
    assert told(x.approve, "check", actor=None) == told(x.approve, "check", actor=AnonymousUser()) == "not_permitted"
    x.approve("check", actor=anna)
    assert end(settled(x)) == DONE


@pytest.mark.parametrize("values", [None, {}, {"amount": "ten"}, {"amount": 1, "more": 2}, {"amonut": 1}])
def test_an_answer_that_does_not_fit(values: Any) -> None:
    """Hazard B107. Hazard B108. It is judged at the door, and fails nothing: a valid one opens the gate later."""
    anna = user("anna", "approve")
    x = waiting(input=Amount)
    with pytest.raises(VerbRefused) as caught:
        x.approve("check", actor=anna, values=values)
    assert caught.value.code == "input_invalid" and "am" in str(caught.value.params["problems"])
    assert waiting_at(settled(x)) == "check"
    x.approve("check", actor=anna, values={"amount": 3})
    assert end(settled(x)) == DONE and seen("b")[0]["check"].input == Amount(3)


def test_a_second_decision() -> None:
    """Hazard B105. Hazard A35. It is told that it comes too late; one that came twice by its key, that it is known."""
    anna, bob = user("anna", "approve"), user("bob", "approve")
    x = waiting()
    assert x.approve("check", actor=anna, key="k").is_new
    assert not x.approve("check", actor=anna, key="k").is_new
    assert told(x.reject, "check", actor=bob) == "decided"  # stored, and not driven yet
    x = settled(x)
    assert end(x) == DONE
    assert not x.approve("check", actor=anna, key="k").is_new
    assert told(x.approve, "check", actor=bob) == "terminal"


def test_a_decision_after_its_time() -> None:
    """Hazard B105. Hazard B104. Refused with the reason, though no drive has looked at the clock yet."""
    clock.set(T)
    anna = user("anna", "approve")
    early, late = waiting(timeout=60), waiting(timeout=60)
    clock.set(T + timedelta(seconds=60))
    early.approve("check", actor=anna)
    clock.forward(0.001)
    assert told(late.approve, "check", actor=anna) == "too_late"
    assert end(settled(early)) == DONE and end(settled(late)) == UNWOUND
    assert "Nobody decided `check` until 2024-05-01 00:01:00 UTC" in error(late, "check")


@pytest.mark.parametrize("on_reject", ["fail", "continue", [do("no")]])
def test_a_rejection_is_a_decision(on_reject: Any) -> None:
    """Hazard B106. What it means is written in the saga: it fails, goes on, or goes another way."""
    x = waiting(on_reject=on_reject)
    x.reject("check", actor=user("anna", "approve"), reason="too dear")
    x = settled(x)
    if on_reject == "fail":
        assert end(x) == UNWOUND and order() == ["a", "~a"] and "ApprovalRejected" in error(x, "check")
    else:
        assert end(x) == DONE and order() == (["a", "b"] if on_reject == "continue" else ["a", "no", "b"])
        assert seen("b")[0]["check"].approved is False and seen("b")[0]["check"].reason == "too dear"


def test_what_is_kept_of_it() -> None:
    """Hazard B114. Hazard B115. It is a result and a line of history, in one write, when its user has gone."""
    clock.set(T)
    anna = user("anna", "approve")
    x = waiting()
    x.approve("check", actor=anna, reason="seen it")
    x = settled(x)
    anna.delete()
    (line,) = events(x, "approve")
    assert (line.actor_id, line.actor_name, line.reason, line.data["gate"]) == (None, "anna", "seen it", "check")
    assert rec(x, "check").output == Decision(approved=True, actor="anna", reason="seen it", input=None, at=T)


def test_gates_in_turns() -> None:
    """Hazard B117. One that is reached again is another gate: by name only where one is open, else by its path."""
    anna = user("anna", "approve")
    gate = Approval("check", permission="shop.approve")
    side = ForEach("line", ref("input.lines"), gate, do("p", ok(lambda line: line), takes="line"), concurrency=2)
    x = run(Saga("side", side), lines=["A", "B", "C"])
    assert told(x.approve, "check", actor=anna) == "ambiguous_gate"
    assert told(x.approve, "line[2]/check", actor=anna) == "not_open"
    x.approve("line[1]/check", actor=anna)
    x = settled(x)
    assert [one["line"] for one in seen("p")] == ["B"]
    x.approve("line[0]/check", actor=anna)
    x = settled(x)
    x.approve("check", actor=anna)  # the last one: the name says it all
    assert end(settled(x)) == DONE and calls("p") == 3
    assert told(x.approve, "line[1]/check", actor=anna) == "terminal"


def test_a_gate_that_is_resumed_waits_anew() -> None:
    """Hazard A59. An operator may give a gate more time; nothing else does."""
    clock.set(T)
    anna = user("anna", "approve")
    x = run(Saga("h", Approval("check", permission="shop.approve", timeout=60), do("b"), on_failure="hold"))
    x = later(x, 61)
    with pytest.raises(VerbRefused) as caught:
        x.approve("check", actor=anna)
    assert (caught.value.code, caught.value.params["until"]) == ("too_late", "2024-05-01 00:01:00 UTC")
    assert end(x) == held("step_failed")
    x.resume(reason="she was ill")
    x = settled(x)
    assert waiting_at(x) == "check" and now(x).due_at == T + timedelta(seconds=121)
    x.approve("check", actor=anna)
    assert end(settled(x)) == DONE
