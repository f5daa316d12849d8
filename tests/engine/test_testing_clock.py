"""The clock of the testing kit: it stands, it moves, all of the engine goes by it, in one process or in many."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from saga_app import Backoff, Saga, clock, step, testing
from saga_app.models import Execution

MAY = datetime(2024, 5, 1, 12, tzinfo=UTC)
LATER = Backoff(first=60, max=60, jitter=0)


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with testing.isolate_sagas():
        yield
    testing.clock.release()


@step(attempts=1)
def double(number: int) -> int:
    return number * 2


@pytest.mark.django_db
class TestClock:
    def test_it_stands_still_once_it_is_set(self):
        testing.clock.set(MAY)
        assert testing.clock.now() == clock.now() == MAY
        execution = testing.run(Saga("s", double), number=1)
        assert execution.created_at == execution.finished_at == MAY

    def test_it_runs_until_then_and_after_its_release(self):
        before = testing.clock.now()
        assert testing.clock.now() > before
        testing.clock.set(MAY)
        testing.clock.release()
        assert testing.clock.now() > before

    def test_a_step_waits_until_it_is_moved(self):
        calls = []

        @step(attempts=2, backoff=LATER)
        def flaky() -> int:
            calls.append(clock.now())
            return 1 // (len(calls) - 1)

        testing.clock.set(MAY)
        execution = testing.run(Saga("s", flaky))
        assert (execution.status, execution.due_at) == ("waiting", MAY + timedelta(seconds=60))
        testing.clock.forward(59)
        assert testing.drain() == 0
        testing.clock.forward(timedelta(seconds=1))
        assert testing.drain() == 1
        assert calls == [MAY, MAY + timedelta(minutes=1)]
        assert Execution.objects.get(pk=execution.pk).status == "completed"

    def test_moments_of_any_zone_are_one(self):
        testing.clock.set(datetime(2024, 5, 1, 14, tzinfo=timezone(timedelta(hours=2))))
        assert testing.clock.now() == MAY
        assert testing.clock.now().tzinfo is UTC

    def test_a_naive_moment_and_a_step_back_are_refused(self):
        with pytest.raises(ValueError, match="naive"):
            testing.clock.set(datetime(2024, 5, 1))  # noqa: DTZ001
        with pytest.raises(ValueError, match="use set"):
            testing.clock.forward(-1)

    def test_seconds_by_our_own_count_never_go_back(self):
        testing.clock.set(MAY)
        first = clock.monotonic()
        testing.clock.set(MAY - timedelta(days=1))
        assert clock.monotonic() == first
        testing.clock.forward(5)
        assert clock.monotonic() == first + 5

    def test_a_lapsed_lease_is_taken_over(self):
        """The claim goes by the same clock."""
        execution = Saga("s", double).start(number=1)
        testing.clock.set(MAY)
        assert testing.drain() == 0, "not due in the past"
        testing.clock.set(execution.created_at + timedelta(seconds=1))
        assert testing.drain() == 1


class TestTheSharedClock:
    """One clock for all processes, through the file that SAGA_TEST_CLOCK names."""

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return tmp_path / "clock"

    def test_two_clocks_on_one_file_are_one(self, path):
        ours, theirs = testing.Clock(path), testing.Clock(path)
        ours.set(MAY)
        theirs.forward(30)
        assert ours.now() == theirs.now() == MAY + timedelta(seconds=30)
        assert ours.monotonic() == theirs.monotonic()
        theirs.release()
        assert ours.now() > MAY + timedelta(days=1)
        clock.replace(None)

    def test_another_process_goes_by_it(self, path):
        shared = testing.Clock(path)
        assert asked(path) > MAY, "time runs as long as nobody has stopped it"
        shared.set(MAY)
        clock.replace(None)
        assert asked(path) == MAY

    def test_no_move_is_lost_among_threads(self, path):
        shared = testing.Clock(path)
        shared.set(MAY)
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(shared.forward, [1] * 100))
        clock.replace(None)
        assert shared.now() == MAY + timedelta(seconds=100)


def asked(path: Path) -> datetime:
    """What another process takes for the moment it is."""
    code = "import django; django.setup(); from saga_app import clock, testing; print(clock.now().isoformat())"
    env = {**os.environ, "SAGA_TEST_CLOCK": str(path), "DJANGO_SETTINGS_MODULE": "tests.settings"}
    said = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    return datetime.fromisoformat(said.stdout.strip())
