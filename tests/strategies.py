"""What Hypothesis makes up: every new feature joins here."""

from __future__ import annotations

from itertools import count
from keyword import iskeyword
from typing import Any

from hypothesis import strategies as st

from saga_app import (
    Approval,
    Backoff,
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
from saga_app.core import registry
from saga_app.core.names import RESERVED
from saga_app.core.nodes import Node
from saga_app.core.steps import Step

#: Names of steps, outputs and parameters: a few, so that they meet.
names = st.sampled_from(["alpha", "beta", "gamma", "delta", "epsilon", "zeta"])
#: Any name that is allowed.
any_names = st.from_regex(r"[a-z][a-z0-9_]{0,20}", fullmatch=True).filter(
    lambda name: name not in RESERVED and not iskeyword(name)
)

#: Durations that may be written, in seconds.
delays = st.floats(0, 86_400, allow_nan=False)
dice = st.floats(0, 1, exclude_max=True, allow_nan=False)


@st.composite
def backoffs(draw: st.DrawFn) -> Backoff:
    """Waits of any shape that is allowed."""
    first, longest = sorted((draw(delays), draw(delays)))
    return Backoff(first, draw(st.floats(1, 1e300, allow_nan=False)), longest, draw(st.floats(0, 1, allow_nan=False)))


@st.composite
def steps(draw: st.DrawFn, name: str = "alpha", takes: tuple[str, ...] | None = None) -> Step[..., Any]:
    """A step of that name: its parameters, how it is tried, and whether it has handlers."""
    parameters = draw(st.lists(names, max_size=3, unique=True)) if takes is None else takes
    made = step(
        name=name,
        attempts=draw(st.integers(1, 5)),
        backoff=draw(backoffs()),
        timeout=draw(st.none() | st.floats(0.001, 60)),
        atomic=draw(st.booleans()),
        required=draw(st.integers(0, 4)) > 0,
    )(function(name, [(each, draw(st.booleans())) for each in parameters if each != name]))
    if draw(st.booleans()):
        made.compensate(function(f"undo_{name}", [("result", draw(st.booleans())), ("ctx", False)]))
    if draw(st.booleans()):
        made.reconcile(function(f"find_{name}", [("ctx", False)]))
    return made


@st.composite
def nodes(draw: st.DrawFn) -> tuple[Node, ...]:
    """Steps of different names in some order, with a pivot among them or not. Not every one is a runnable saga."""
    chosen = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    row: list[Node] = [draw(steps(name)) for name in chosen]
    if draw(st.booleans()):
        row.insert(draw(st.integers(0, len(row))), Pivot())
    return tuple(row)


LEAVES = ("step", "step", "compute", "wait", "approval", "sleep", "child")
INNER = ("branch", "if", "while", "repeat", "foreach", "parallel", "try")


@st.composite
def trees(draw: st.DrawFn, depth: int = 3) -> tuple[Node, ...]:
    """Nodes of every kind, nested in each other in any way that is allowed, each with a name of its own."""
    grower = Grower(draw)
    row = grower.row(depth, straight=True)
    if draw(st.booleans()):
        row.insert(draw(st.integers(0, len(row))), Pivot())
    return (*row, step(name="last")(lambda: None))


class Grower:
    """Draws nodes. `straight`: an unwind comes along here on one line, so that milestones may stand here."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.names = (f"n{number}" for number in count())

    def row(self, depth: int, *, straight: bool = False) -> list[Node]:
        """Between one and three nodes."""
        kinds = [*LEAVES, *(INNER if depth else ()), *(["milestone"] if straight else [])]
        chosen = self.draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=3))
        return [self.node(kind, depth, straight=straight) for kind in chosen]

    def node(self, kind: str, depth: int, *, straight: bool) -> Node:
        """One node of that kind."""
        name = next(self.names)
        if kind in {"while", "repeat", "foreach"}:
            return self.loop(kind, name, depth - 1, straight=straight)
        return self.holding(kind, name, depth - 1) if kind in INNER else self.leaf(kind, name, depth - 1)

    def leaf(self, kind: str, name: str, depth: int) -> Node:
        """A node that need not have others in it."""
        if kind == "step":
            return self.step(name)
        instead: Any = self.row(depth) if depth > 0 and self.draw(st.booleans()) else "fail"
        made: dict[str, Node] = {
            "compute": Compute(name, lambda: None),
            "wait": Wait(name, timeout=60, on_timeout=instead),
            "approval": Approval(name, permission="shop.approve", on_reject=instead),
            "sleep": Sleep(60).named(name),
            "child": Child("kid").named(name, compensate=self.draw(st.booleans())),
            "milestone": Milestone(name),
        }
        return made[kind]

    def step(self, name: str) -> Node:
        """A step, with something to undo or without."""
        made = step(name=name, required=self.draw(st.booleans()), queue=self.draw(st.sampled_from([None, "slow"])))(
            lambda: None
        )
        if self.draw(st.booleans()):
            made.compensate(lambda: None)
        return made

    def loop(self, kind: str, name: str, depth: int, *, straight: bool) -> Node:
        """A loop, whose turns lie on the line around it if they are one after the other."""
        concurrency = self.draw(st.sampled_from([1, 1, 4])) if kind == "foreach" else 1
        body = self.row(depth, straight=straight and concurrency == 1)
        if kind == "while":
            return While(lambda: False, *body).named(name)
        if kind == "repeat":
            return Repeat(*body, until=lambda: True).named(name)
        return ForEach(name, lambda: [1], *body, concurrency=concurrency)

    def holding(self, kind: str, name: str, depth: int) -> Node:
        """A node that holds rows of others."""
        rows = {f"way{each}": self.row(depth) for each in range(self.draw(st.integers(1, 3)))}
        first = rows["way0"]
        if kind == "branch":
            other: dict[str, Any] = {"default": []} if self.draw(st.booleans()) else {}
            return Branch(lambda: "way0", **rows, **other).named(name)
        if kind == "if":
            return If(lambda: True, *first, otherwise=rows.get("way1")).named(name)
        return Parallel(**rows) if kind == "parallel" else Try(*first, catch=OSError, recover=self.row(depth))


@st.composite
def runnable_sagas(draw: st.DrawFn, name: str = "made-up") -> Saga[Any]:
    """A saga that seals: each step takes only what is there before it, or what the input can give."""
    chosen = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    row: list[Node] = []
    for place, each in enumerate(chosen):
        sure = [one for one in chosen[:place] if one not in optional(row)]
        takes = draw(st.lists(st.sampled_from([*sure, "from_input", "also_from_input"]), max_size=3, unique=True))
        row.append(draw(steps(each, tuple(takes))))
    if draw(st.booleans()):
        row.insert(draw(st.integers(0, len(row))), Pivot())
    with registry.isolate():
        return Saga(name, *row, on_failure=draw(st.sampled_from(["unwind", "hold"])))


def optional(row: list[Node]) -> set[str]:
    return {one.name for one in row if isinstance(one, Step) and not one.required}


def function(name: str, parameters: list[tuple[str, bool]]) -> Any:
    """A function that returns its arguments; each parameter with (True) or without a default, which is None."""
    ordered = sorted(parameters, key=lambda one: one[1])
    written = ", ".join(f"{each}=None" if default else each for each, default in ordered)
    scope: dict[str, Any] = {}
    exec(f"def {name}({written}): return dict(locals())", scope)  # noqa: S102 - names come from the lists above
    return scope[name]
