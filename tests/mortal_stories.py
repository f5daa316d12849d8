"""Sagas as people write them, each with how it must end, whoever dies on the way: the ground of the crash tests."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from saga_app import Context, GiveUp, Pivot, Rejected, Saga, VerbRefused, engine, ref
from saga_app.core.errors import StepTimeout
from saga_app.models import Execution
from tests import ledger
from tests.mortal_steps import NOW, SOON, Landed, act, mend, standing, unless_mended
from tests.reading import ABANDONED, CANCELLED, DONE, UNWOUND, now
from tests.threads import at_once


@dataclass(frozen=True)
class Story:
    """One saga, and what becomes of it.

    Attributes:
        saga: makes it.
        ends: status, rollback status and stuck reason at the end.
        stands: what its steps have left in the world then, one name for each effect.
        operator: what an operator does each time that it is stuck or suspended.
    """

    saga: Callable[[], Saga[Any]]
    ends: tuple[str, str, str]
    stands: tuple[str, ...] = ()
    operator: Callable[[Execution], object] | None = None


def chain() -> Saga[Any]:
    return Saga("chain", act("a"), act("b"), act("c"), output=ref("b"))


def third_fails() -> Saga[Any]:
    return Saga("third-fails", act("a"), act("b"), act("c", GiveUp("no")))


def third_fails_late() -> Saga[Any]:
    """Its effect has landed when it fails, so it is undone too."""
    return Saga("third-fails-late", act("a"), act("b"), act("c", Landed(GiveUp("no"))))


def retries() -> Saga[Any]:
    """One is tried again at once, one after a pause in which nobody holds the execution."""
    b = act("b", OSError, Landed(OSError), None, attempts=5, backoff=NOW)
    return Saga("retries", act("a", OSError, None, backoff=SOON), b)


def atomics() -> Saga[Any]:
    """Atomic steps between external ones, one that retries, and an optional one that fails."""
    b = act("b", OSError, None, atomic=True, atomic_undo=True)
    d = act("d", GiveUp("no mail today"), required=False, undo=None)
    return Saga("atomics", act("a"), b, act("c", atomic=True, undo=None), d, act("e", atomic=True, undo=None))


def atomics_unwind() -> Saga[Any]:
    """Atomic steps with atomic compensations and with external ones; the last fails after its own rows."""
    a, b = act("a", atomic=True, atomic_undo=True), act("b", atomic=True)
    return Saga("atomics-unwind", a, b, act("c"), act("d", Landed(GiveUp("no")), atomic=True))


def pivot() -> Saga[Any]:
    """Past the pivot a step fails until its cause is mended; then an operator resumes."""
    b = act("b", unless_mended("b", OSError("down")), attempts=2, backoff=SOON)
    return Saga("pivot", act("a"), Pivot(), b, act("c", atomic=True))


def timed_out_and_happened() -> Saga[Any]:
    return Saga("happened", act("a"), act("b", Landed(StepTimeout()), find="truth"), act("c"))


def timed_out_and_did_not() -> Saga[Any]:
    return Saga("did-not", act("a"), act("b", StepTimeout(), None, find="truth"), act("c"))


def timed_out_and_nobody_knows() -> Saga[Any]:
    return Saga("unknown", act("a"), act("b", Landed(StepTimeout()), None, find="nothing known"), act("c"))


def rejected_after_a_timeout() -> Saga[Any]:
    """That the second attempt did nothing does not clear the first."""
    return Saga("rejected", act("a"), act("b", Landed(StepTimeout()), Rejected("no")), act("c"))


def asked_on_the_way_back() -> Saga[Any]:
    """A compensation that needs a result, of a step that failed when its effect had landed: reconcile has it.

    Where a worker died inside, reconcile is asked on the way forward, and the next step is the one that fails.
    """
    b = act("b", Landed(GiveUp("late")), needs_result=True, find="truth")
    return Saga("asked", act("a"), b, act("c", GiveUp("no")))


def compensations_retry() -> Saga[Any]:
    a = act("a", undo=(OSError, Landed(OSError), None), backoff=SOON, attempts=4)
    b = act("b", undo=(OSError, None), backoff=NOW, atomic=True, atomic_undo=True)
    return Saga("compensations-retry", a, b, act("c", GiveUp("no")))


def compensation_fails() -> Saga[Any]:
    return Saga("compensation-fails", act("a"), act("b", undo=(GiveUp("refused"),)), act("c", GiveUp("no")))


def cancelled() -> Saga[Any]:
    return Saga("cancelled", act("a"), act("b", Landed(from_outside(engine.cancel))), act("c"))


def cancelled_before_the_pivot() -> Saga[Any]:
    return Saga("cancelled-late", act("a"), act("b", from_outside(engine.cancel)), Pivot(), act("c"))


def suspended() -> Saga[Any]:
    return Saga("suspended", act("a"), act("b", from_outside(engine.suspend)), act("c"))


def held() -> Saga[Any]:
    return Saga("held", act("a"), act("b", atomic=True), act("c", GiveUp("no")), on_failure="hold")


def unknown_before_the_pivot() -> Saga[Any]:
    """One attempt, no reconcile, and nothing to be undone later: an operator has to look."""
    return Saga("unknown-before-the-pivot", act("a"), act("b", Landed(StepTimeout()), attempts=1), Pivot(), act("c"))


def from_outside(verb: Callable[..., object]) -> Callable[[Context], None]:
    """An act: somebody else uses a verb on this execution, on a connection of their own. Once: no more is allowed."""

    def call(ctx: Context) -> None:
        if ledger.has(f"{verb.__name__} used"):
            return
        with suppress(VerbRefused):
            at_once(lambda: verb(ctx.execution_id))
        ledger.note("used", verb.__name__, "", "", "", 0, {})

    return call


def resume_mended(x: Execution) -> None:
    mend("b")
    engine.resume(x, reason="it is up again")


def undo_by_hand(x: Execution) -> None:
    record = x.steps.get(path=now(x).failing_path)
    ledger.note("undone", record.name, record.path, record.idempotency_key, x.pk, 1, {})
    engine.resolve(x, record.path, reason="done by hand")


def look_and_skip(x: Execution) -> None:
    """Nobody knows whether it happened: the operator looks in the other system, and says what is there."""
    path = now(x).failing_path
    if path in standing(x):
        engine.skip(x, path, happened=True, output=path, reason="it is there")
    else:
        engine.resume(x, reason="it is not there: try again")


def abandon(x: Execution) -> None:
    engine.abandon(x, reason="let it be")


STORIES = {
    story.saga.__name__: story
    for story in [
        Story(chain, DONE, ("a", "b", "c")),
        Story(third_fails, UNWOUND),
        Story(third_fails_late, UNWOUND),
        Story(retries, DONE, ("a", "b")),
        Story(atomics, DONE, ("a", "b", "c", "e")),
        Story(atomics_unwind, UNWOUND),
        Story(pivot, DONE, ("a", "b", "c"), resume_mended),
        Story(timed_out_and_happened, DONE, ("a", "b", "c")),
        Story(timed_out_and_did_not, DONE, ("a", "b", "c")),
        Story(timed_out_and_nobody_knows, DONE, ("a", "b", "c")),
        Story(rejected_after_a_timeout, UNWOUND),
        Story(asked_on_the_way_back, UNWOUND),
        Story(compensations_retry, UNWOUND),
        Story(compensation_fails, UNWOUND, (), undo_by_hand),
        Story(cancelled, CANCELLED),
        Story(cancelled_before_the_pivot, CANCELLED),
        Story(suspended, DONE, ("a", "b", "c"), engine.resume),
        Story(held, UNWOUND, (), engine.unwind),
        Story(unknown_before_the_pivot, DONE, ("a", "b", "c"), look_and_skip),
    ]
} | {"abandoned": Story(compensation_fails, ABANDONED, ("a", "b"), abandon)}
