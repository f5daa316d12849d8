"""Sagas of any shape whose steps do as dice say: they work, fail, reject, time out; misfortunes meet them inside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from random import Random
from typing import Any

from saga_app import Compute, Context, GiveUp, Rejected, Saga, Sleep, VerbRefused, engine, executor
from saga_app.core.errors import StepTimeout
from saga_app.core.nodes import Node
from saga_app.models import Execution, StepRecord
from saga_app.store.transactions import alias
from tests import ledger
from tests.growing import LEAVES, Grower
from tests.mortal_steps import NOW, SOON, Landed, act
from tests.shared_clock import clock
from tests.threads import at_once

FAILS: list[Any] = [OSError, Landed(OSError), StepTimeout, Landed(StepTimeout), Rejected, GiveUp, Landed(GiveUp)]
OFTEN = 3  # calls of one body whose ends are chosen; the last end is that of all that follow


class Wild(Grower):
    """Grows a saga, and those of its children.

    Args:
        dice: with a seed, so that the same saga can be grown again.
        depth: how deep its nodes may be nested.
        above: who grows its parent.
    """

    def __init__(self, dice: Random, depth: int, above: Wild | None = None) -> None:
        leaves = LEAVES if depth > 0 else tuple(kind for kind in LEAVES if kind != "child")
        super().__init__(dice.choice, above.names if above else None, leaves)
        self.dice, self.depth = dice, depth
        self.risk: float = above.risk if above else dice.choice([0.05, 0.15])
        self.misfortune: float = above.misfortune if above else dice.choice([0.02, 0.1, 0.25])
        nodes = self.tree(depth)
        options = {"on_failure": self.pick(["unwind", "unwind", "hold"]), "timeout": self.pick([None] * 5 + [300])}
        self.saga = Saga(f"wild-{next(self.names)}", *nodes, **options)

    def child_saga(self) -> Saga[Any]:
        return Wild(self.dice, self.depth - 1, self).saga

    def last(self) -> Node:
        return self.step(next(self.names), risk=0.5)

    def row(self, depth: int, *, straight: bool = False) -> list[Node]:
        """A step among others, so that there is something to be undone."""
        row = super().row(depth, straight=straight)
        row.insert(self.pick(range(len(row) + 1)), self.step(next(self.names)))
        return row

    def step(self, name: str, *, risk: float = 0.0) -> Node:
        """A step that is tried a few times in either direction, and does what the dice say each time."""
        atomic = self.pick([False, False, True])
        options: dict[str, Any] = {
            "undo": self.pick([None, (), (), (), self.ends(0.3, atomic=atomic)]),
            "atomic": atomic,
            "attempts": self.pick([1, 2, 3]),
            "backoff": self.pick([NOW, SOON]),
            "find": self.pick(["", "", "truth", "nothing known"]) if not atomic else "",
            "required": self.pick([True, True, True, False]),
            "queue": self.pick([None, None, "slow"]),
        }
        return act(name, *self.ends(risk or self.risk, atomic=atomic), **options)

    def compute(self, name: str) -> Node:
        """A value that may not be had at first."""
        return Compute(name, self.chooser("compute", name, [1]))

    def sleep(self, name: str) -> Node:
        """How long it takes may not be known at first, or ever."""
        errors = self.pick([[], [], [StepTimeout], [StepTimeout, ValueError]])

        def length(ctx: Context) -> float:
            if ctx.attempt <= len(errors):
                raise errors[ctx.attempt - 1]
            return 20.0

        return Sleep(length).named(name)

    def ends(self, risk: float, *, atomic: bool) -> tuple[Any, ...]:
        """How calls of one body end: most of them well."""
        return tuple(self.end(risk, atomic=atomic) for _ in range(OFTEN))

    def end(self, risk: float, *, atomic: bool) -> Any:
        chance = self.dice.random()
        if chance < risk:
            return self.pick(FAILS)
        if chance < risk + self.misfortune and not atomic:  # inside an atomic body nobody else may write, on SQLite
            return self.pick(
                [once(cancels), once(suspends), *[once(loses_its_lease), Landed(once(loses_its_lease))] * 2]
            )
        return None

    def chooser(self, kind: str, name: str, choices: Sequence[Any]) -> Callable[..., Any]:
        """Answers by turn, chosen beforehand, in the end one that ends a loop; some do not answer at first."""
        answers = [self.pick(choices) for _ in range(2)] + [choices[0]]
        stumbles = self.pick([False] * 6 + [True])

        def choose(ctx: Context) -> Any:
            if stumbles and ctx.attempt == 1:
                raise OSError(name)
            return answers[min(ctx.index or 0, len(answers) - 1)]

        return choose


# what may happen while a body runs


def once(what: Callable[[Context], object]) -> Callable[[Context], None]:
    """It happens to one call, once."""

    def happens(ctx: Context) -> None:
        mark = f"{what.__name__} {ctx.path} {ctx.execution_id}"
        if not ledger.has(f"{mark} met"):
            ledger.note("met", mark, "", "", "", 0, {})
            at_once(lambda: what(ctx))

    return happens


def cancels(ctx: Context) -> None:
    """Somebody cancels the execution."""
    with suppress(VerbRefused):
        engine.cancel(ctx.execution_id, reason="from inside")


def suspends(ctx: Context) -> None:
    """Somebody suspends it."""
    with suppress(VerbRefused):
        engine.suspend(ctx.execution_id, reason="from inside")


def loses_its_lease(ctx: Context) -> None:
    """The lease of whoever is in this body is over, and somebody else goes on."""
    row = StepRecord.objects.using(alias()).filter(execution_id=ctx.execution_id, path=ctx.path)
    if not row.filter(row_holder__isnull=False).update(row_due_at=clock.now()):
        held = Execution.objects.using(alias()).filter(pk=ctx.execution_id, lease_holder__isnull=False)
        held.update(due_at=clock.now())
    executor.drive_next(holder="host:9")
