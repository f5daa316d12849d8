"""What is allowed in a saga and seldom meant."""

from __future__ import annotations

from typing import Any

import pytest

from saga_app import ForEach, Milestone, Parallel, Repeat, Saga, Sleep, Wait, While, ref, step
from saga_app.core import registry
from saga_app.core.advice import endless_debts


def owing() -> Any:
    """A step with a compensation."""
    one = step(name="a")(lambda: None)
    one.compensate(lambda: None)
    return one


def plain() -> Any:
    """A step without."""
    return step(name="b")(lambda: None)


def loop(*body: Any) -> Any:
    """A loop with that body."""
    return While(lambda: False, *body).named("again")


@pytest.mark.parametrize(
    ("node", "told"),
    [
        (lambda: loop(owing(), Sleep(60)), ["again"]),
        (lambda: Repeat(owing(), Wait("go"), until=lambda: True).named("again"), ["again"]),
        (lambda: ForEach("line", ref("input.lines"), owing(), Sleep(60)), ["line"]),
        (lambda: loop(owing(), Sleep(60), Milestone("safe")), []),
        (lambda: loop(owing()), []),
        (lambda: loop(plain(), Sleep(60)), []),
        (lambda: loop(owing().named(compensate=False), Sleep(60)), []),
        (lambda: Parallel(x=[loop(owing(), Sleep(60))], y=[plain()]), []),
    ],
)
def test_a_loop_that_owes_and_rests_wants_a_milestone(node: Any, told: list[str]) -> None:
    """Each turn adds to what is undone; where a milestone may not stand, none is asked for."""
    with registry.isolate():
        assert [one.name for one in endless_debts(Saga("s", node()))] == told
