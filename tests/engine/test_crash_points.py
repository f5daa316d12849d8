"""A worker dies at every point at which one can, once; another takes over, and all promises hold (P1 to P6).

The product of stories and points, in one process: the death is simulated and loses all memory. The same with real
processes and SIGKILL, for a sample: tests/acceptance/test_kills.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from saga_app import driving
from saga_app.core import arranging
from saga_app.core.snapshot import Snapshot
from tests.engine.telling import broken, calls, stage, told
from tests.mortal import Life
from tests.mortal_stories import STORIES, Story

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "outside"])


@pytest.fixture(autouse=True)
def world() -> Iterator[None]:
    """Each test has a world of its own."""
    with stage():
        yield


def deaths(story: Story) -> list[str]:
    """Tell it once without a death, and once for each point with one there; what is not as it was promised."""
    life = Life()
    with told(story, life) as x:
        usual = calls(x)
        assert not broken(x, story), "without any death"
    assert {"commit", "committed", "before a", "inside a", "after a"} <= set(life.points)
    return [
        f"dies at {place} ({point}): {what}"
        for place, point in enumerate(life.points)
        for what in death(story, place, usual)
    ]


def death(story: Story, place: int, usual: Counter[str]) -> list[str]:
    """Tell it with a death at one point."""
    life = Life(place)
    with told(story, life) as x:
        assert life.dead, f"it never came to point {place}"
        once = Counter(set(calls(x)))  # is no repetition, also of what was not needed without the death
        more = calls(x) - (usual | once)
        again = [f"calls again {dict(more)}"] if more.total() > may_be_repeated(life.points) else []
        return broken(x, story) + again


def may_be_repeated(points: list[str]) -> int:
    """How many calls may come again: one that was called and not recorded. None, after a commit outside of bodies."""
    bodies = [point for point in points if " " in point]
    in_a_body = bool(bodies) and not bodies[-1].startswith("after")
    if points[-1] == "committed":
        return int(in_a_body)
    return int(bool(bodies) and not points[-1].startswith("before"))


@pytest.mark.parametrize("name", STORIES)
def test_a_worker_dies_at_every_point(name: str) -> None:
    """Hazard B53. Hazard B85. Promises P1 to P6. At whatever point a worker dies, another brings it to the same end."""
    wrong = deaths(STORIES[name])
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["third_fails_late", "timed_out_and_did_not", "atomics_unwind", "cancelled"])
def test_two_workers_die_one_after_the_other(name: str) -> None:
    """Hazard B163. The worker that takes over dies as well, at every point of its own; the third ends it."""
    story, wrong, place, dying = STORIES[name], [], 0, True
    while dying:
        second = 0
        while dying:
            lives = Life(place), Life(second)
            with told(story, *lives) as x:
                dying = lives[1].dead
                wrong += [f"dies at {place} and {second} ({lives[1].points[-1]}): {what}" for what in broken(x, story)]
            second += 1
        place, dying = place + 1, lives[0].dead
    assert not wrong, "\n".join(wrong)
    assert place > 10


def test_an_engine_that_forgets_orphans_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests can fail: where an attempt whose worker died counts as one that did nothing, its effect is left."""

    def forgetful(x: Snapshot, step: Any, path: str, call: Any, now: datetime) -> Snapshot:
        record = x.record(path)
        known = record.may_have_happened if record else False
        return arranging.intend(x, step, path, call, now).with_record(path, may_have_happened=known)

    monkeypatch.setattr(driving, "intend", forgetful)
    wrong = deaths(STORIES["rejected_after_a_timeout"])
    assert any("leaves ['b']" in one for one in wrong)
    assert all("(inside b)" in one or "(after b)" in one or "(commit)" in one for one in wrong)


def test_an_engine_without_intents_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests can fail: where no intent is written before the call, a cancel does not undo what it did."""

    def hasty(drive: driving.Drive, after: Snapshot, decision: Any) -> None:
        intended = drive._intent(after, decision)
        assert intended
        drive.current = intended
        drive._call(decision)

    monkeypatch.setattr(driving.Drive, "_begin_call", hasty)
    wrong = deaths(STORIES["cancelled"])
    assert any("(after b): leaves ['b']" in one for one in wrong)
    assert any("(inside b): calls without counting: ['b']" in one for one in wrong)
