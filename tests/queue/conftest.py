"""A file for notes, a factory of clusters, and the sagas they drive."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.db import connections

from tests.processes import Processes
from tests.queue.clusters import Cluster
from tests.queue.works.notes import VARIABLE


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this test's processes note what they do."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "notes"))
    return tmp_path / "notes"


@pytest.fixture
def cluster(transactional_db: None, notes: Path, children: Processes) -> Iterator[Callable[..., Cluster]]:
    """Starts real clusters on this test's database; they are killed when it ends."""
    yield lambda **options: Cluster(children, **options)
    children.end()
    connections.close_all()
