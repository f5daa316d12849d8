"""A worker dies at every point of gates, children, groups and loops; another takes over, and all promises hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.engine.telling import broken, calls, stage, told
from tests.engine.test_crash_points import may_be_repeated
from tests.mortal import Life
from tests.mortal_flows import FLOWS
from tests.mortal_stories import Story

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "outside"])

OFTEN = ("gate", "gate_that_is_late", "child", "group_fails", "each_in_turn", "caught")
names = [name if name in OFTEN else pytest.param(name, marks=pytest.mark.slow) for name in FLOWS]


@pytest.fixture(autouse=True)
def world() -> Iterator[None]:
    """Each test has a world of its own."""
    with stage():
        yield


def deaths(story: Story) -> list[str]:
    """Tell it without a death, and then with one at each point, as long as it comes to such a point.

    Which of two executions is driven first is not told, so that a story may have a point more or less.
    """
    with told(story, Life()) as x:
        usual, wrong = calls(x), broken(x, story)
    place, dying = 0, not wrong
    while dying:
        life = Life(place)
        with told(story, life) as x:
            dying = life.dead
            wrong += [f"dies at {place} ({life.points[-1]}): {what}" for what in broken(x, story)]
            more = calls(x) - (usual | Counter(set(calls(x))))
            if more.total() > (may_be_repeated(life.points) if dying else 0):
                wrong.append(f"dies at {place} ({life.points[-1]}): calls again {dict(more)}")
        place += 1
    assert place > 8 or wrong
    return wrong


@pytest.mark.parametrize("name", names)
def test_a_worker_dies_at_every_point(name: str) -> None:
    """Promises P1 to P6. At whatever point a worker dies, another brings it, and its children, to the same end."""
    wrong = deaths(FLOWS[name])
    assert not wrong, "\n".join(wrong)
