"""Grows sagas of nested nodes: every kind, any depth, each node with a name of its own, each saga fit to be sealed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any, TypeVar

from saga_app import (
    Approval,
    Branch,
    Child,
    Compute,
    ForEach,
    If,
    Milestone,
    Parallel,
    Pivot,
    Repeat,
    Saga,
    Sleep,
    Try,
    Wait,
    While,
    step,
)
from saga_app.core.nodes import Node

T = TypeVar("T")
Pick = Callable[[Sequence[Any]], Any]
"""Chooses one of some: Hypothesis, or dice with a seed."""

LEAVES = ("step", "step", "compute", "wait", "approval", "sleep", "child")
INNER = ("branch", "if", "while", "repeat", "foreach", "parallel", "try")


class Grower:
    """Chooses nodes. `straight`: an unwind comes along here on one line, so that milestones may stand here.

    Whoever wants other steps, other choices or other children overrides those methods.

    Args:
        pick: how one of several is chosen.
        names: of the nodes; two growers that share them never use one twice.
        leaves: the kinds of nodes that need not have others in them.
    """

    def __init__(self, pick: Pick, names: Iterator[str] | None = None, leaves: Sequence[str] = LEAVES) -> None:
        self.pick = pick
        self.names = names or (f"n{number}" for number in count())
        self.leaves = leaves

    def tree(self, depth: int) -> tuple[Node, ...]:
        """The nodes of a saga, with a pivot among them or not; the last is a step, so that there is one."""
        row = self.row(depth, straight=True)
        if self.pick([False, True]):
            row.insert(self.pick(range(len(row) + 1)), Pivot())
        return (*row, self.last())

    def last(self) -> Node:
        """The step at the end."""
        return step(name="last")(lambda: None)

    def row(self, depth: int, *, straight: bool = False) -> list[Node]:
        """Between one and three nodes."""
        kinds = [*self.leaves, *(INNER if depth > 0 else ()), *(["milestone"] if straight else [])]
        return [self.node(self.pick(kinds), depth, straight=straight) for _ in range(self.pick([1, 2, 3]))]

    def node(self, kind: str, depth: int, *, straight: bool) -> Node:
        """One node of that kind."""
        name = next(self.names)
        if kind in {"while", "repeat", "foreach"}:
            return self.loop(kind, name, depth - 1, straight=straight)
        return self.holding(kind, name, depth - 1) if kind in INNER else self.leaf(kind, name, depth - 1)

    def leaf(self, kind: str, name: str, depth: int) -> Node:
        """A node that need not have others in it."""
        return getattr(self, kind)(name) if kind not in {"wait", "approval"} else self.gate(kind, name, depth)

    def gate(self, kind: str, name: str, depth: int) -> Node:
        """A gate, with a deadline or without, after which something is done or nothing."""
        instead: Any = self.row(depth) if depth > 0 and self.pick([False, True]) else "fail"
        timeout = 60 if instead != "fail" else self.pick([None, 60])
        if kind == "wait":
            return Wait(name, timeout=timeout, on_timeout=instead)
        rejected = self.pick(["fail", "continue"]) if instead == "fail" else instead
        return Approval(name, permission="shop.approve", timeout=timeout, on_reject=rejected)

    def step(self, name: str) -> Node:
        """A step, with something to undo or without."""
        made = step(name=name, required=self.pick([False, True, True]), queue=self.pick([None, None, "slow"]))(
            lambda: None
        )
        if self.pick([False, True]):
            made.compensate(lambda: None)
        return made

    def compute(self, name: str) -> Node:
        """A computed value."""
        return Compute(name, lambda: None)

    def sleep(self, name: str) -> Node:
        """A pause."""
        return Sleep(60).named(name)

    def child(self, name: str) -> Node:
        """A child, undone with its parent or not."""
        return Child(self.child_saga()).named(name, compensate=self.pick([False, True, True]))

    def child_saga(self) -> Saga[Any] | str:
        """What a child runs."""
        return "kid"

    def milestone(self, name: str) -> Node:
        """A point at which the way back ends."""
        return Milestone(name)

    def chooser(self, kind: str, name: str, choices: Sequence[Any]) -> Callable[..., Any]:
        """What a node chooses with, between those answers."""
        return lambda: choices[0]

    def loop(self, kind: str, name: str, depth: int, *, straight: bool) -> Node:
        """A loop, whose turns lie on the line around it if they are one after the other."""
        concurrency = self.pick([1, 1, 2, 4]) if kind == "foreach" else 1
        body = self.row(depth, straight=straight and concurrency == 1)
        if kind == "while":
            return While(self.chooser(kind, name, [False, True]), *body, max_iterations=3).named(name)
        if kind == "repeat":
            return Repeat(*body, until=self.chooser(kind, name, [True, False]), max_iterations=3).named(name)
        items: list[list[int]] = [[1], [], [1, 2], [1, 2, 3]]
        return ForEach(name, self.chooser(kind, name, items), *body, concurrency=concurrency)

    def holding(self, kind: str, name: str, depth: int) -> Node:
        """A node that holds rows of others."""
        rows = {f"way{each}": self.row(depth) for each in range(self.pick([1, 2, 3]))}
        first = rows["way0"]
        if kind == "branch":
            other: dict[str, Any] = {"default": []} if self.pick([False, True]) else {}
            return Branch(self.chooser(kind, name, [*rows, *other]), **rows, **other).named(name)
        if kind == "if":
            return If(self.chooser(kind, name, [True, False]), *first, otherwise=rows.get("way1")).named(name)
        return Parallel(**rows) if kind == "parallel" else Try(*first, catch=OSError, recover=self.row(depth))
