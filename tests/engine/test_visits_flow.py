"""Somebody cancels or suspends gates, children, groups and loops, at every point at which somebody can."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from saga_app import engine
from saga_app.core.status import TERMINAL, Status
from saga_app.models import Execution
from tests.engine.telling import broken, broken_promises, family, stage, stands, told
from tests.engine.test_visits import Visited, waking
from tests.mortal_flows import FLOWS

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "outside"])

VISITED = ["gate", "child", "group"]
VISITED_TOO = [
    "gate_that_is_late",
    "sleep",
    "child_fails",
    "group_fails",
    "group_of_atomics",
    "each",
    "turns",
    "caught",
]
names = [*VISITED, *(pytest.param(name, marks=pytest.mark.slow) for name in VISITED_TOO)]


@pytest.fixture(autouse=True)
def world() -> Iterator[None]:
    """Each test has a world of its own."""
    with stage():
        yield


@pytest.mark.parametrize("name", names)
def test_a_cancel_at_every_point(name: str) -> None:
    """Design §9.8. Accepted, it ends cancelled, its children have ended, and nothing is left that can be undone."""
    story, wrong, accepted, place, coming = FLOWS[name], [], 0, 0, True
    while coming:
        life = Visited(engine.cancel, place)
        with told(story, life) as x:
            found = undone(x) if life.accepted else broken(x, story)
            wrong += [f"cancelled at {place} ({life.points[: place + 1][-1]}): {what}" for what in found]
            accepted, coming = accepted + life.accepted, place < len(life.points)
        place += 1
    assert not wrong, "\n".join(wrong)
    assert accepted > 2


def undone(x: Execution) -> list[str]:
    """What is not as it has to be after an accepted cancel."""
    left, final = stands(x), {"b"} if x.saga == "sleep" else set()  # which has nothing to undo it
    facts = {
        f"ends {x.status}": x.status == Status.CANCELLED,
        f"leaves {left}": set(left) <= final,
        f"its family is {[one.status for one in family(x)]}": all(one.status in TERMINAL for one in family(x)),
    }
    return [text for text, holds in facts.items() if not holds] + broken_promises(x)


@pytest.mark.parametrize("name", names)
def test_a_suspend_at_every_point(name: str) -> None:
    """Accepted, it stands still until it is resumed, and then ends as if nothing had been."""
    story, wrong, accepted, place, coming = FLOWS[name], [], 0, 0, True
    story = replace(story, operator=waking(story))
    while coming:
        life = Visited(engine.suspend, place)
        with told(story, life) as x:
            wrong += [f"suspended at {place}: {what}" for what in broken(x, story)]
            accepted, coming = accepted + life.accepted, place < len(life.points)
        place += 1
    assert not wrong, "\n".join(wrong)
    assert accepted > 2
