"""Choices, loops, Try and milestones in every state, nested in each other."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from saga_app import Branch, If, Milestone, Parallel, Repeat, Try, Wait, While
from tests.core.search import Scenario
from tests.core.search_laws import explored
from tests.core.search_scenarios import made, scenario


def again() -> bool:
    return True


def done() -> bool:
    return True


def way() -> str:
    return "a"


def big() -> bool:
    return True


def loops() -> Scenario:
    """A While with a milestone in each turn, and a Repeat; each may have more turns than it is allowed."""
    first = While(again, made("x"), Milestone("m"), max_iterations=2)
    second = Repeat(made("y"), until=done, max_iterations=2)
    choices = {"again": "true false", "done": "true false"}
    return scenario(first, second, choices=choices, crashes=1, cancels=1, presses=1)


def a_gate_in_a_loop() -> Scenario:
    """Two turns with a gate each, and one signal for each of them, or for none."""
    body = (Wait("gate", timeout=5, on_timeout=[made("t")]), made("x"))
    loop = While(again, *body, max_iterations=2)
    return scenario(loop, choices={"again": "true false"}, sent=("gate", "gate"), crashes=1, presses=1)


def branches() -> Scenario:
    """What was not chosen leaves nothing to be undone."""
    first = Branch(way, a=made("x"), b=[Wait("gate"), made("y")], default=[])
    second = If(big, made("z"), otherwise=[made("w", undo=0)])
    choices = {"way": "a b default", "big": "true false"}
    return scenario(first, second, choices=choices, sent=("gate",), way="ok error", cancels=1, presses=1)


def tries() -> Scenario:
    """What the body did stays owed; a cancel is not caught."""
    one = Try(made("x"), made("y"), catch=OSError, recover=[made("r")])
    return scenario(one, made("b", undo=0), y="ok late error rejected", crashes=1, cancels=1, presses=1)


def a_gate_that_is_caught() -> Scenario:
    """Nobody came in time: something else is done."""
    one = Try(made("x"), Wait("gate", timeout=5), recover=[made("r")])
    return scenario(one, made("b", undo=0), sent=("gate",), crashes=1, cancels=1, presses=1)


def a_group_that_is_caught() -> Scenario:
    """What waits in it is cut short, what runs is let finish, then its failure is caught."""
    one = Try(Parallel(made("x"), b=[Wait("gate"), made("y")]), recover=[made("r")])
    return scenario(one, made("b", undo=0), sent=("gate",), crashes=1, cancels=1)


def milestone() -> Scenario:
    """What began before it stays."""
    row = (made("a"), Milestone("m"), made("b"), made("c", undo=0))
    return scenario(*row, undo_b="ok error", crashes=1, cancels=1, presses=2)


SCENARIOS: list[Callable[[], Scenario]] = [
    loops, a_gate_in_a_loop, branches, tries, a_gate_that_is_caught, a_group_that_is_caught, milestone,
]  # fmt: skip


@pytest.mark.parametrize("made_up", SCENARIOS)
def test_every_state_is_lawful_and_comes_to_rest(made_up: Callable[[], Scenario]) -> None:
    """Promises P1, P2 and P6, whichever way is taken; a choice is asked for once."""
    assert len(explored(made_up()).worlds) > 100
