"""Steps whose bodies come by the points of `mortal`, and an outside world that remembers what they did there.

The world keeps what a key has done: it does nothing twice for one key, and nothing for a key that was undone. It is
kept in the ledger, since no death and no rollback reaches that; what an atomic body does is a row of the site.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from saga_app import Backoff, Context, Happened, NotHappened, Unknown, step
from saga_app.core.steps import Step
from saga_app.core.tree import name_of
from saga_app.models import Execution
from tests import ledger
from tests.mortal import life
from tests.site.models import Question

NOW = Backoff(first=0, jitter=0)
SOON = Backoff(first=5, factor=1, max=5, jitter=0)  # longer than a worker sleeps: the execution is parked

Act = BaseException | type[BaseException] | Callable[[Context], Any] | None


class Landed:
    """An act that comes when the effect has landed."""

    def __init__(self, act: Act) -> None:
        self.act = act


def act(
    name: str,
    *acts: Act | Landed,
    undo: tuple[Act | Landed, ...] | None = (),
    atomic_undo: bool = False,
    needs_result: bool = False,
    find: str = "",
    attempts: int = 4,
    backoff: Backoff = NOW,
    atomic: bool = False,
    **options: Any,
) -> Step[..., Any]:
    """A step.

    Args:
        name: its name.
        *acts: one for each attempt, the last one for all that follow: None does what the step is for; an error is
            raised, or a function called, before anything has happened. Nothing said: None.
        undo: the acts of its compensation; None: it has none.
        atomic_undo: its compensation is atomic.
        needs_result: its compensation is never called without a result.
        find: what its reconcile answers: "truth", or "nothing known"; nothing said: it has none.
        attempts: of both directions.
        backoff: of both directions.
        atomic: the effect is a row of the site.
        **options: as of @step.
    """
    how = {"attempts": attempts, "backoff": backoff}
    made = step(name=name, atomic=atomic, **how, **options)(_body(name, acts, rows=atomic))
    if undo is not None:
        back = _undo(name, undo, rows=atomic)
        made.compensate(atomic=atomic_undo, **how)(_wanting_result(back) if needs_result else back)
    if find:
        made.reconcile(_find(name, honest=find == "truth"))
    return made


def _wanting_result(back: Callable[[Context], None]) -> Callable[..., None]:
    def undo(ctx: Context, result: Any) -> None:
        assert result == ctx.path
        back(ctx)

    return undo


def _body(name: str, acts: tuple[Any, ...], *, rows: bool) -> Callable[[Context], str]:
    def body(ctx: Context) -> str:
        with _called(name, ctx):
            now, after = _nth(acts, ctx.attempt)
            _do(now, ctx)
            if rows:
                Question.objects.create(title=f"{ctx.path} {ctx.execution_id}")
            else:
                land(name, ctx, ctx.idempotency_key)
            life().at(f"inside {name}")
            _do(after, ctx)
        return name

    return body


def _undo(name: str, acts: tuple[Any, ...], *, rows: bool) -> Callable[[Context], None]:
    def undo(ctx: Context) -> None:
        with _called(f"~{name}", ctx, outcome=ctx.outcome, forward_key=ctx.forward_idempotency_key):
            now, after = _nth(acts, ctx.attempt)
            _do(now, ctx)
            if rows:
                Question.objects.filter(title=f"{ctx.path} {ctx.execution_id}").delete()
            else:
                ledger.note("undone", name, ctx.path, ctx.forward_idempotency_key, ctx.execution_id, ctx.attempt, {})
            life().at(f"inside ~{name}")
            _do(after, ctx)

    return undo


def _find(name: str, *, honest: bool) -> Callable[[Context], Any]:
    def find(ctx: Context) -> Happened[str] | NotHappened | Unknown:
        with _called(f"?{name}", ctx):
            answer = Happened(name) if _has("landed", ctx.forward_idempotency_key) else NotHappened()
        return answer if honest else Unknown()

    return find


@contextmanager
def _called(name: str, ctx: Context, **told: Any) -> Iterator[None]:
    """Around what a body does: its first point and its last, however it ends, and its line in the ledger."""
    life().at(f"before {name}")
    note("began", name, ctx, **told)
    try:
        yield
    finally:
        life().leaving(f"after {name}")


def _nth(acts: tuple[Any, ...], attempt: int) -> tuple[Act, Act]:
    """What is done before the effect, and what after it."""
    one = acts[min(attempt, len(acts)) - 1] if acts else None
    return (None, one.act) if isinstance(one, Landed) else (one, None)


def _do(what: Act, ctx: Context) -> None:
    if isinstance(what, BaseException | type):
        raise what
    if what is not None:
        what(ctx)


def note(event: str, name: str, ctx: Context, **data: Any) -> None:
    """A line in the ledger."""
    sign = name[0] if name[0] in "~?" else ""
    ledger.note(event, name, sign + ctx.path, ctx.idempotency_key, ctx.execution_id, ctx.attempt, data)


def land(name: str, ctx: Context, key: str) -> None:
    """The effect of a call, once for a key. What was undone does not come again: that would be seen by nobody."""
    if _has("undone", key):
        note("too late", name, ctx)
    elif not _has("landed", key):
        note("landed", name, ctx)


def _has(event: str, key: str) -> bool:
    return bool(ledger.notes("event = %s AND key = %s", event, key))


def standing(x: Execution) -> list[str]:
    """What stands in the world because of an execution: names, one for each effect."""
    mine = "event = %s AND execution = %s"
    undone = {one.key for one in ledger.notes(mine, "undone", str(x.pk))}
    outside = [one.name for one in ledger.notes(mine, "landed", str(x.pk)) if one.key not in undone]
    rows = Question.objects.filter(title__endswith=str(x.pk)).values_list("title", flat=True)
    return sorted([*outside, *(name_of(title.split()[0]) for title in rows)])


def came_too_late(x: Execution) -> list[str]:
    """The calls that reached the world after they had been undone."""
    return [one.name for one in ledger.notes("event = %s AND execution = %s", "too late", str(x.pk))]


def mend(name: str) -> None:
    """From now on, what `unless_mended` refuses is done."""
    ledger.note("mended", name, "", "", "", 0, {})


def unless_mended(name: str, error: BaseException) -> Callable[[Context], None]:
    """An act that fails until somebody mends it."""

    def check(_ctx: Context) -> None:
        if not ledger.has(f"{name} mended"):
            raise error

    return check
