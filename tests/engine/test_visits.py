"""Somebody uses a verb at every point of an execution's life at which somebody can, on a connection of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.db import connections

from saga_app import VerbRefused, engine
from saga_app.core.status import Status
from saga_app.models import Execution
from saga_app.store.transactions import alias
from tests.engine.telling import broken, broken_promises, stage, told
from tests.mortal import Life
from tests.mortal_steps import standing
from tests.mortal_stories import STORIES, Story
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "outside"])

VISITED = ["chain", "retries", "atomics", "pivot", "timed_out_and_did_not", "third_fails", "compensations_retry"]


@pytest.fixture(autouse=True)
def world() -> Iterator[None]:
    """Each test has a world of its own."""
    with stage():
        yield


class Visited(Life):
    """A life in which somebody else comes by at one point, and uses a verb."""

    def __init__(self, verb: Any, comes_at: int | None = None) -> None:
        super().__init__()
        self.verb, self.comes_at = verb, comes_at
        self.came = self.accepted = False

    def leaving(self, point: str) -> None:
        super().leaving(point)
        if len(self.points) - 1 == self.comes_at and self._can_come(point):
            self.came = True
            try:
                at_once(lambda: self.verb(self.execution, reason="from outside"))
            except VerbRefused:
                return
            self.accepted = True

    def _can_come(self, point: str) -> bool:
        """Before a commit the row is locked, by us; on SQLite that is so for the whole transaction."""
        connection = connections[alias()]
        return point != "commit" and not (connection.in_atomic_block and connection.vendor == "sqlite")


def points_of(story: Story) -> int:
    life = Life()
    with told(story, life):
        return len(life.points)


@pytest.mark.parametrize("name", VISITED)
def test_a_cancel_at_every_point(name: str) -> None:
    """Hazard B202. Hazard B204. Accepted, it ends cancelled and leaves nothing that can be undone; refused, as ever."""
    story, wrong, accepted = STORIES[name], [], 0
    for place in range(points_of(story)):
        life = Visited(engine.cancel, place)
        with told(story, life) as x:
            found = undone(x, story) if life.accepted else broken(x, story)
            wrong += [f"cancelled at {place} ({life.points[place]}): {what}" for what in found]
            accepted += life.accepted
    assert not wrong, "\n".join(wrong)
    assert accepted > 2


def undone(x: Execution, story: Story) -> list[str]:
    """What is not as it has to be after an accepted cancel."""
    final = {step.name for step in story.saga().steps if step.compensation is None}
    left = set(standing(x)) - final
    facts = {
        f"ends {x.status}": x.status == Status.CANCELLED,
        f"leaves {left}": not left,
        "is past the pivot": x.pivoted_at is None,
    }
    return [text for text, holds in facts.items() if not holds] + broken_promises(x)


@pytest.mark.parametrize("name", VISITED)
def test_a_suspend_at_every_point(name: str) -> None:
    """Accepted, it stands still until it is resumed, and then ends as if nothing had been."""
    story, wrong, accepted = STORIES[name], [], 0
    story = replace(story, operator=waking(story))
    for place in range(points_of(story)):
        life = Visited(engine.suspend, place)
        with told(story, life) as x:
            wrong += [f"suspended at {place} ({life.points[place]}): {what}" for what in broken(x, story)]
            suspended = x.events.of("suspended").count()
            if suspended > life.accepted:
                wrong.append(f"suspended at {place}: {suspended} times, asked {int(life.accepted)} times")
            accepted += life.accepted
    assert not wrong, "\n".join(wrong)
    assert accepted > 2


def waking(story: Story) -> Any:
    """An operator who wakes what is suspended, and leaves the rest to the story's own."""

    def operator(x: Execution) -> object:
        if x.status == Status.SUSPENDED:
            return engine.resume(x)
        assert story.operator
        return story.operator(x)

    return operator
