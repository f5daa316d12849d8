"""Queued steps in every state: two side by side, with workers of their own (design §8.10)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from saga_app import ForEach, Milestone, Parallel, Pivot, Wait
from tests.core.search import Scenario
from tests.core.search_laws import explored
from tests.core.search_scenarios import made, scenario


def group() -> Scenario:
    """One of them may fail, a worker die, somebody cancel."""
    return scenario(made("a"), Parallel(made("x", attempts=2), made("y")), a="ok", crashes=1, cancels=1)


def leases() -> Scenario:
    """A worker loses its lease, and what its call did is unknown or comes late."""
    return scenario(Parallel(made("x", attempts=2), made("y")), x="ok timeout", lapses=1, cancels=1)


def with_a_gate() -> Scenario:
    """What waits is cut short when the other branch fails."""
    group = Parallel(a=[Wait("gate", timeout=5), made("x")], b=[made("y")])
    return scenario(made("t"), group, made("z", undo=0), sent=("gate",), t="ok", crashes=1, cancels=1)


def held() -> Scenario:
    """It stops there, and an operator tries both branches again, or goes back."""
    return scenario(Parallel(made("x"), made("y")), options={"on_failure": "hold"}, cancels=1, presses=1, crashes=1)


def past_the_pivot() -> Scenario:
    """There is no way back."""
    return scenario(Pivot(), Parallel(made("x"), made("y")), x="ok timeout error", presses=2, crashes=1)


def before_the_pivot() -> Scenario:
    """What stays unknown there stops it, once nothing else of the group is under way."""
    group, t = Parallel(made("x"), made("y", asks=True)), made("t", undo=0)
    return scenario(group, Pivot(), t, t="ok", x="ok timeout", y="ok timeout", presses=1, crashes=1)


def stumbling() -> Scenario:
    """What one of them begins with cannot be made: at first, or ever."""
    row = (made("a"), Parallel(made("x"), made("y")))
    return scenario(*row, stumbles={"x": "once never"}, a="ok", y="ok", crashes=1, cancels=1, presses=1)


def suspended() -> Scenario:
    """Who is inside a body ends it; nobody else begins."""
    group = Parallel(made("x", attempts=2), made("y"))
    return scenario(group, suspends=1, presses=1, cancels=1, hurries=1, verbs="resume")


def suspended_and_cancelled() -> Scenario:
    """Both are asked for, in either order, while a worker is inside, or has died there."""
    return scenario(Parallel(made("x"), made("y")), suspends=1, cancels=1, crashes=1, presses=1, verbs="resume", y="ok")


def undone_on_a_queue() -> Scenario:
    """Compensations run where their steps do."""
    a, b = made("a", queue="slow"), made("b", undo=0, queue="slow")
    return scenario(a, b, undo_a="ok error", b="error", crashes=1, lapses=1, presses=1, hurries=1)


def undone_side_by_side() -> Scenario:
    """Two branches go back at once, and what stands behind them before them."""
    group = Parallel(made("x", queue="slow", undo=2), made("y", queue="slow"))
    row = (group, made("b", undo=0))
    return scenario(*row, x="ok", y="ok", b="error", undo_x="ok error", undo_y="ok error", crashes=1, presses=1)


def atomic() -> Scenario:
    """Their rows and their records are one commit."""
    x, y = made("x", atomic=True, attempts=2), made("y", atomic=True, atomic_undo=True)
    return scenario(Parallel(x, y), made("b", undo=0), crashes=2, cancels=1)


def optional() -> Scenario:
    """One may fail without ending the other."""
    group = Parallel(made("x", required=False), made("y"))
    return scenario(group, made("b", undo=0), crashes=1, cancels=1, b="error")


def deadline() -> Scenario:
    """The whole saga has a deadline."""
    return scenario(Parallel(made("x", attempts=2), made("y")), options={"timeout": 9}, crashes=1, presses=1)


def held_at_a_deadline() -> Scenario:
    """It is an operator's then, but not before those who are inside a body have ended it."""
    options = {"timeout": 9, "on_failure": "hold"}
    return scenario(Parallel(made("x"), made("y")), options=options, lapses=1, presses=1, x="ok")


def items() -> list[int]:
    return []


def each_of_two() -> Scenario:
    """A loop over items that run side by side, or over none."""
    loop = ForEach("line", items, made("x"), concurrency=2)
    return scenario(loop, made("b", undo=0), choices={"line": "0 2"}, b="error", crashes=1, cancels=1)


def each_of_three() -> Scenario:
    """More items than may run at once."""
    return scenario(ForEach("line", items, made("x"), concurrency=2), choices={"line": "3"}, cancels=1, crashes=1)


def one_after_the_other() -> Scenario:
    """Items in a row, each with a milestone: the way back ends there."""
    loop = ForEach("line", items, made("x"), Milestone("m"), made("y", undo=0))
    return scenario(loop, choices={"line": "2"}, crashes=1, cancels=1, presses=1)


SCENARIOS: list[Callable[[], Scenario]] = [
    group, leases, with_a_gate, held, past_the_pivot, before_the_pivot, stumbling, suspended, suspended_and_cancelled,
    undone_on_a_queue, undone_side_by_side, atomic, optional, deadline, held_at_a_deadline, each_of_two, each_of_three,
    one_after_the_other,
]  # fmt: skip


@pytest.mark.parametrize("made_up", SCENARIOS)
def test_every_state_is_lawful_and_comes_to_rest(made_up: Callable[[], Scenario]) -> None:
    """Design §8.10. One worker in each call, running siblings are waited for, nothing is left or undone twice."""
    assert len(explored(made_up()).worlds) > 100
