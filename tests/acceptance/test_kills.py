"""Real worker processes, each killed with SIGKILL at one point: a sample of tests/engine/test_crash_points.py.

Six stories, five points of each, spread over the whole story: thirty deaths on each database.
"""

from __future__ import annotations

import pytest

from saga_app import testing
from saga_app.core.status import TERMINAL
from saga_app.models import Execution
from tests.engine.telling import MOST_RESTS, broken
from tests.harness import clear, lapse, now, work
from tests.mortal import WorkersLife
from tests.mortal_stories import STORIES, Story

SAMPLE = ["third_fails_late", "atomics", "atomics_unwind", "pivot", "timed_out_and_did_not", "cancelled"]
POINTS = 5


def tell(story: Story, life: WorkersLife) -> tuple[Execution, int]:
    """Its saga, driven by worker processes until it has ended; and how many of them died."""
    clear()
    x, deaths = story.saga().start(), 0
    with life.lived():
        for _ in range(MOST_RESTS):
            work(skip=True)
            row = now(x)
            if row.status in TERMINAL:
                return row, deaths
            if row.lease_holder:
                deaths += 1
                lapse()
            elif row.due_at is None:
                assert story.operator, f"{row.status} {row.stuck_reason}"
                story.operator(row)
    raise AssertionError(f"still {row.status}, due {row.due_at}")


@pytest.mark.parametrize("name", SAMPLE)
def test_a_killed_worker_changes_nothing_about_the_end(name: str) -> None:
    """Hazard B53. Hazard B85. Promises P1 to P6. kill -9 at any point: the next worker brings it to the same end."""
    story = STORIES[name]
    whole = WorkersLife()
    x, deaths = tell(story, whole)
    assert deaths == 0 and not broken(x, story)
    assert whole.count > 2 * POINTS
    held = 0
    for number in range(POINTS):
        place = (2 * number + 1) * whole.count // (2 * POINTS)
        with testing.isolate_sagas():
            life = WorkersLife(place)
            x, deaths = tell(story, life)
            assert life.count > place and deaths <= 1
            assert not broken(x, story), f"killed at {place} of {whole.count}"
            held += deaths
    assert held >= POINTS // 2, "most of the dead held the execution when they died"
