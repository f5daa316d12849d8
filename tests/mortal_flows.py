"""Stories of control flow, each with how it must end, whoever dies on the way: gates, children, groups, loops, Try."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model

from saga_app import (
    Approval,
    Branch,
    Child,
    Context,
    ForEach,
    GiveUp,
    Milestone,
    Parallel,
    Pivot,
    Repeat,
    Saga,
    Sleep,
    Try,
    Wait,
    While,
    engine,
)
from saga_app.core.errors import StepTimeout
from saga_app.models import Execution
from saga_app.store.transactions import alias
from tests.mortal_steps import SOON, Landed, act, mend, unless_mended
from tests.mortal_stories import Story, from_outside
from tests.reading import CANCELLED, DONE, UNWOUND, now
from tests.threads import at_once

RESTED = ("failed", "rested", "")


# gates


def gate() -> Saga[Any]:
    return Saga("gate", act("a"), Wait("go"), act("b"))


def gate_that_is_late() -> Saga[Any]:
    return Saga("gate-late", act("a"), Wait("go", timeout=60, on_timeout=[act("late")]), act("b"))


def gate_that_fails() -> Saga[Any]:
    return Saga("gate-fails", act("a"), Wait("go", timeout=60), act("b"))


def signal_that_is_early() -> Saga[Any]:
    """It has come before anybody waits for it."""
    return Saga("early", act("a", Landed(from_outside(go))), Wait("go"), act("b"))


def rejected() -> Saga[Any]:
    return Saga("rejected", act("a"), Approval("pay", permission="site.pay", on_reject=[act("no")]), act("b"))


def sleep() -> Saga[Any]:
    return Saga("sleep", act("a"), Sleep(60), act("b", undo=None))


def go(execution: Any) -> None:
    """The signal that the gates wait for."""
    engine.signal(execution, "go", 1)


def reject(x: Execution) -> None:
    """Somebody who may says no."""
    users = get_user_model()._default_manager.db_manager(alias())
    at_once(lambda: users.get_or_create(username="boss", is_superuser=True))  # is no point of anybody's life
    engine.reject(x, "pay", actor=users.get(username="boss"), reason="too dear")


# children


def kid(*nodes: Any) -> Saga[Any]:
    return Saga("kid", *(nodes or (act("k"), act("l"))))


def child() -> Saga[Any]:
    return Saga("child", act("a"), Child(kid()), act("b"))


def child_undone() -> Saga[Any]:
    return Saga("child-undone", act("a"), Child(kid()), act("b", GiveUp("no")))


def child_fails() -> Saga[Any]:
    return Saga("child-fails", act("a"), Child(kid(act("k"), act("l", Landed(GiveUp("no"))))), act("b"))


def child_cancelled() -> Saga[Any]:
    """Its parent is cancelled while it is at work."""
    return Saga("child-cancelled", act("a"), Child(kid(act("k", Landed(from_outside(cancel_above))), act("l"))))


def child_rests() -> Saga[Any]:
    return Saga("child-rests", act("a"), Child(kid(act("k"), Milestone("m"), act("l"))), act("b", GiveUp("no")))


def child_past_the_pivot() -> Saga[Any]:
    """It fails until its cause is mended; a resume has another one born."""
    return Saga("child-pivot", act("a"), Pivot(), Child(kid(act("k", unless_mended("k", GiveUp("no"))))), act("b"))


def cancel_above(execution: Any) -> None:
    """Cancel the parent of an execution."""
    parent = Execution.objects.using(alias()).get(children=execution)
    engine.cancel(parent)


# groups


def group() -> Saga[Any]:
    return Saga("group", act("a"), Parallel(act("x", OSError, None, backoff=SOON), y=[act("y"), act("z")]), act("b"))


def group_fails() -> Saga[Any]:
    group = Parallel(act("x"), y=[act("y", Landed(GiveUp("no"))), act("z")])
    return Saga("group-fails", act("a"), group, act("b"))


def group_undone() -> Saga[Any]:
    """On their queue, each branch on its own."""
    x = act("x", queue="slow", undo=(OSError, None), backoff=SOON)
    return Saga("group-undone", act("a"), Parallel(x, y=[act("y"), act("z", queue="slow")]), act("b", GiveUp("no")))


def group_of_atomics() -> Saga[Any]:
    x, y = act("x", atomic=True, atomic_undo=True), act("y", OSError, None, atomic=True)
    return Saga("group-atomics", act("a"), Parallel(x, y), act("b", GiveUp("no")))


def group_in_doubt() -> Saga[Any]:
    """One is asked about, of the other nobody knows, whatever it tries."""
    x, y = act("x", Landed(StepTimeout()), find="truth"), act("y", Landed(StepTimeout()), attempts=2)
    return Saga("group-doubt", act("a"), Parallel(x, y), act("b"))


def group_with_a_gate() -> Saga[Any]:
    """What waits is cut short when the other branch fails."""
    return Saga("group-gate", act("a"), Parallel(x=[Wait("go"), act("x")], y=[act("y", GiveUp("no"))]), act("b"))


def group_past_the_pivot() -> Saga[Any]:
    y = act("y", unless_mended("y", GiveUp("no")))
    return Saga("group-pivot", act("a"), Pivot(), Parallel(act("x"), y), act("b"))


# loops and choices


def each() -> Saga[Any]:
    return Saga("each", act("a"), ForEach("line", items, act("x"), act("y"), concurrency=2), act("b"))


def each_undone() -> Saga[Any]:
    loop = ForEach("line", items, act("x"), act("y", atomic=True), concurrency=3)
    return Saga("each-undone", act("a"), loop, act("b", GiveUp("no")))


def each_in_turn() -> Saga[Any]:
    """One after the other, resting at the last one that was well."""
    loop = ForEach("line", items, act("x"), Milestone("m"), act("y", first_two))
    return Saga("each-in-turn", act("a"), loop)


def turns() -> Saga[Any]:
    """Loops around choices."""
    way = Branch(lambda iteration: "left" if iteration else "right", left=act("x"), right=[act("y")]).named("way")
    again = While(lambda iteration: iteration < 2, way).named("again")
    return Saga("turns", act("a"), again, Repeat(act("z"), until=lambda iteration: iteration == 1).named("until"))


def caught() -> Saga[Any]:
    """What the body did stays owed, and is undone with the rest."""
    one = Try(act("x"), act("y", Landed(GiveUp("no"))), catch=GiveUp, recover=[act("r")])
    return Saga("caught", act("a"), one, act("b", GiveUp("no")))


def items() -> list[int]:
    return [1, 2, 3]


def first_two(ctx: Context) -> None:
    """Fails at the third item."""
    if ctx.index == 2:
        raise GiveUp("no")


def resume_mended(x: Execution) -> None:
    mend("k")
    mend("y")
    engine.resume(now(x), reason="it is up again")


EACH = ("x", "x", "x", "y", "y", "y")
FLOWS = {
    story.saga.__name__: story
    for story in [
        Story(gate, DONE, ("a", "b"), go),
        Story(gate_that_is_late, DONE, ("a", "late", "b")),
        Story(gate_that_fails, UNWOUND),
        Story(signal_that_is_early, DONE, ("a", "b")),
        Story(rejected, DONE, ("a", "no", "b"), reject),
        Story(sleep, DONE, ("a", "b")),
        Story(child, DONE, ("a", "k", "l", "b")),
        Story(child_undone, UNWOUND),
        Story(child_fails, UNWOUND),
        Story(child_cancelled, CANCELLED),
        Story(child_rests, RESTED, ("a", "k")),
        Story(child_past_the_pivot, DONE, ("a", "k", "b"), resume_mended),
        Story(group, DONE, ("a", "x", "y", "z", "b")),
        Story(group_fails, UNWOUND),
        Story(group_undone, UNWOUND),
        Story(group_of_atomics, UNWOUND),
        Story(group_in_doubt, UNWOUND),
        Story(group_with_a_gate, UNWOUND),
        Story(group_past_the_pivot, DONE, ("a", "x", "y", "b"), resume_mended),
        Story(each, DONE, ("a", "b", *EACH)),
        Story(each_undone, UNWOUND),
        Story(each_in_turn, RESTED, ("a", "x", "x", "x", "y", "y")),
        Story(turns, DONE, ("a", "x", "y", "z", "z")),
        Story(caught, UNWOUND),
    ]
}
