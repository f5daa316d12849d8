"""What the tests of graphs share: sagas of any shape, and their graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

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
    ref,
    step,
)
from saga_app.core import registry
from saga_app.core.graph import graph_of
from saga_app.core.nodes import Node
from tests.strategies import function


def do(name: str, **options: Any) -> Any:
    return step(name=name, **options)(function(name, []))


def ask(name: str, **options: Any) -> Any:
    return Compute(name, function(name, []), **options)


def graph(*nodes: Any, **options: Any) -> dict[str, Any]:
    with registry.isolate():
        return graph_of(Saga("s", *nodes, **options))


def undone(name: str = "undo") -> Any:
    made = do("a")
    made.compensate(function(name, []))
    return made


class Names:
    """A name for each node, so that none is there twice."""

    def __init__(self) -> None:
        self.last = 0

    def new(self) -> str:
        self.last += 1
        return f"n{self.last}"


@st.composite
def trees(draw: st.DrawFn) -> tuple[Node, ...]:
    """Nodes of every kind in each other; a Pivot and a Milestone at the top only."""
    names = Names()
    return draw_row(draw, names, depth=3, marks=True)


def draw_row(draw: st.DrawFn, names: Names, depth: int, *, marks: bool = False) -> tuple[Node, ...]:
    row = [draw_node(draw, names, depth) for _ in range(draw(st.integers(1, 3)))]
    if marks and draw(st.booleans()):
        row.insert(draw(st.integers(1, len(row))), Pivot())
    if marks and draw(st.booleans()):
        row.insert(draw(st.integers(0, 1)), Milestone(names.new()))
    return (do(names.new()), *row) if marks else tuple(row)


def draw_node(draw: st.DrawFn, names: Names, depth: int) -> Any:
    name = names.new()

    def row() -> list[Node]:
        return list(draw_row(draw, names, depth - 1))

    leaves: list[Callable[[], Any]] = [
        lambda: do(name, required=draw(st.booleans()), atomic=draw(st.booleans())),
        lambda: ask(name),
        lambda: Sleep(draw(st.integers(1, 10**6))).named(name),
        lambda: Child("other").named(name),
        lambda: Wait(name, timeout=draw(st.none() | st.integers(1, 10**6))),
        lambda: Approval(name, permission="shop.approve", on_reject=draw(st.sampled_from(["fail", "continue"]))),
    ]
    inner: list[Callable[[], Any]] = [
        lambda: Branch(ask(name), one=row(), two=row(), **({"default": []} if draw(st.booleans()) else {})),
        lambda: If(ask(name), *row(), otherwise=row() if draw(st.booleans()) else None),
        lambda: While(ask(name), *row()),
        lambda: Repeat(*row(), until=ask(name)),
        lambda: ForEach(name, ref("input.lines"), *row(), concurrency=draw(st.integers(1, 3))),
        lambda: Parallel(one=row(), two=row()),
        lambda: Try(*row(), catch=(ValueError,), recover=row()),
        lambda: Wait(name, timeout=5, on_timeout=row()),
        lambda: Approval(name, permission="shop.approve", timeout=5, on_timeout=row(), on_reject=row()),
    ]
    return draw(st.sampled_from(leaves + inner if depth else leaves))()
