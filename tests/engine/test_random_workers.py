"""The same lives as test_random, told with two worker processes, some of which are killed with SIGKILL at any point."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.engine.telling import stage
from tests.engine.test_random import PARTS, seeds
from tests.engine.wild_lives import MOST_POINTS, Teller, tell
from tests.harness import lapse, work
from tests.mortal import WorkersLife

pytestmark = [pytest.mark.acceptance, pytest.mark.django_db(transaction=True, databases=["default", "outside"])]


@pytest.fixture(autouse=True)
def world() -> Iterator[None]:
    """Each test has a world of its own."""
    with stage():
        yield


class Crewed(Teller):
    """Tells a life with worker processes: one of them dies where the dice say, and is replaced."""

    def drive(self, turn: int) -> None:
        dies = bool(self.lives) and self.dice.random() < 0.7
        life = WorkersLife(self.dice.randrange(MOST_POINTS)) if dies else WorkersLife()
        with life.lived():
            work(2, skip=True)
        if dies and life.count > (life.ends_at or 0):
            self.say(f"a worker is killed at point {life.ends_at} of {life.count}")
            self.lives.pop()
        lapse()


@pytest.mark.timeout(400)
def test_any_saga_survives_kills() -> None:
    """Hazard B53. Promises P1 to P6, P8, P9: kill -9 at any moment of any saga."""
    for seed in seeds(len(PARTS)):
        story = tell(seed, Crewed)
        assert not story.wrong, f"SAGA_SEED={seed} tells it again.\n{story}"
