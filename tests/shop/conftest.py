"""A world outside that is new for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import override_settings


@pytest.fixture(autouse=True)
def outside_books(tmp_path: Path) -> Iterator[Path]:
    """The file of the bank and the warehouse."""
    file = tmp_path / "outside.sqlite3"
    with override_settings(OUTSIDE_LEDGER=file, OUTSIDE_LATENCY=0.0):
        yield file
