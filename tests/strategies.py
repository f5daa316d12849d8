"""What Hypothesis makes up: every new feature joins here."""

from __future__ import annotations

from keyword import iskeyword
from typing import Any

from hypothesis import strategies as st

from saga_app import Backoff, Pivot, Saga, step
from saga_app.core import registry
from saga_app.core.names import RESERVED
from saga_app.core.nodes import Node
from saga_app.core.steps import Step
from tests.growing import Grower

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


@st.composite
def trees(draw: st.DrawFn, depth: int = 3) -> tuple[Node, ...]:
    """Nodes of every kind, nested in each other in any way that is allowed, each with a name of its own."""
    return Grower(lambda some: draw(st.sampled_from(some))).tree(depth)


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
