"""What two folders of tests or more need: the scratch folder, other processes, a Redis, and Hypothesis profiles."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from tests import redis
from tests.processes import Processes, processes
from tests.settings import SCRATCH

SCRATCH.mkdir(parents=True, exist_ok=True)

# No deadline: a busy machine is not a bug. SAGA_HYPOTHESIS=nightly digs deeper.
hypothesis.settings.register_profile("dev", deadline=None, max_examples=60)
hypothesis.settings.register_profile("ci", deadline=None, max_examples=100, print_blob=True)
hypothesis.settings.register_profile("nightly", deadline=None, max_examples=2000, print_blob=True)
hypothesis.settings.load_profile(os.environ.get("SAGA_HYPOTHESIS", "ci" if os.environ.get("CI") else "dev"))


def pytest_unconfigure(config: pytest.Config) -> None:
    """The process that began the run clears up after all of them."""
    if not hasattr(config, "workerinput"):
        shutil.rmtree(SCRATCH, ignore_errors=True)


@pytest.fixture
def children(tmp_path: Path) -> Iterator[Processes]:
    """Starts python processes on this test's databases; whatever is left of them is killed at the end."""
    with processes(tmp_path) as family:
        yield family


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """The address of an empty Redis that lives as long as the test run."""
    if not redis.PROGRAM:
        pytest.skip("no redis-server on this machine")
    with redis.server(SCRATCH) as address:
        yield address
