"""Handlers: how a compensation and a reconcile are declared, their defaults, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from saga_app import Backoff, DefinitionError, Happened, NotHappened, Saga, Unknown, step
from saga_app.core import registry
from saga_app.core.policy import Policy


def charge(card: str, total: int = 1) -> str:
    return f"{card}:{total}"


async def fetch(url: str) -> str:
    return url


def star(*order_ids: int) -> None: ...


def undone(result: int) -> None: ...


def test_compensate_returns_the_function() -> None:
    """A handler stays an ordinary function, with and without options."""
    made = step(charge)
    assert made.compensation is None

    @made.compensate(
        attempts=10, backoff=Backoff(first=2), timeout=5, atomic=True, retry_on=OSError, give_up_on=KeyError
    )
    def refund(result: str, card: str) -> str:
        return f"{result} back on {card}"

    assert refund("1", "visa") == "1 back on visa"
    handler = made.compensation
    assert handler is not None
    assert (handler.function, handler.atomic, handler.needs_result, handler.is_async) == (refund, True, True, False)
    assert handler.policy == Policy(
        attempts=10, backoff=Backoff(first=2), timeout=5.0, retry_on=(OSError,), give_up_on=(KeyError,)
    )


def test_the_defaults_of_a_handler() -> None:
    """Case C29. A compensation has attempts of its own, and the step's timeout; it is never unbounded."""
    made, endless = step(charge, attempts=9, timeout=7), step(charge, timeout=None)
    for one in (made, endless):
        one.compensate(lambda result=None: result)
        one.reconcile(fetch.__get__("x"))
    assert made.compensation is not None
    assert made.reconciler is not None
    assert (made.compensation.policy.attempts, made.compensation.policy.timeout) == (3, 7.0)
    assert (made.reconciler.policy.attempts, made.reconciler.policy.timeout) == (3, 7.0)
    assert (made.compensation.needs_result, made.reconciler.is_async) == (False, True)
    assert endless.compensation is not None
    assert endless.compensation.policy.timeout == 30.0


def test_copies_share_handlers_declared_later() -> None:
    """`.bind` and `.named` may come before `@charge.compensate` in the file."""
    made = step(charge)
    copy = made.bind(card="visa").named("again")
    made.compensate(lambda: None)
    made.reconcile(lambda: None)
    assert copy.compensation is made.compensation is not None
    assert copy.reconciler is made.reconciler is not None


async def aundo() -> None: ...


@pytest.mark.parametrize(
    ("handler", "options", "cure"),
    [
        (star, {}, "write each one out"),
        (aundo, {"atomic": True}, "write a plain def"),
        (step(charge), {}, "take its @step away"),
        (3, {}, "has to be a function"),
        (aundo, {"attempts": 0}, "attempts=1"),
        (aundo, {"timeout": 0}, "more than 0"),
        (aundo, {"atomic": "yes"}, "True or False"),
        (aundo, {"rejected_on": (OSError,)}, "no option `rejected_on`"),
        (aundo, {"atempts": 2}, "Did you mean `attempts`?"),
    ],
)
def test_refusals_of_a_compensation(handler: Any, options: dict[str, Any], cure: str) -> None:
    """A handler that could not run is refused when written, and leaves the step without one."""
    made = step(charge)
    with pytest.raises(DefinitionError) as refused:
        made.compensate(**options)(handler)
    assert cure in str(refused.value)
    assert made.compensation is None


def test_one_handler_of_each_kind() -> None:
    """A second compensation would silently replace the first."""
    made = step(charge)
    made.compensate(undone)
    made.reconcile(aundo)
    for again in (made.compensate, made.reconcile):
        with pytest.raises(DefinitionError, match="a step has one"):
            again(aundo)


def test_reconcile_has_no_result() -> None:
    """It is asked because nobody knows the result."""
    with pytest.raises(DefinitionError, match=r"by ctx\.idempotency_key"):
        step(charge).reconcile(undone)


def test_a_handler_after_sealing_is_refused() -> None:
    """A saga in use would not see it."""
    made = step(charge)
    with registry.isolate():
        Saga("early", made).seal()
    with pytest.raises(DefinitionError, match="right below the step"):
        made.compensate(aundo)


def test_the_answers_of_reconcile() -> None:
    """They compare by value; a step that returns nothing happened without one."""
    assert Happened("c1") == Happened("c1") != Happened("c2")
    assert (Happened(), NotHappened(), Unknown()) == (Happened(None), NotHappened(), Unknown())
