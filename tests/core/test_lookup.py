"""Lookups: which record a name means, seen from a path."""

from __future__ import annotations

import pytest

from saga_app.core.lookup import Lookup, turn_at
from saga_app.core.records import Records
from saga_app.core.snapshot import Record

HOMES = {"pack": "line", "line": "order", "again": "order"}


def records(*paths: str) -> Records:
    return Records(
        Record(seq=at, path=path, name=path.rpartition("/")[2].partition("[")[0], output_text="1")
        for at, path in enumerate(paths)
    )


def found(lookup: Lookup, stored: Records, name: str, path: str) -> str | None:
    record = lookup.latest(stored, [name], path)
    return None if record is None else record.path


@pytest.mark.parametrize(
    ("path", "loop", "turn"),
    [
        ("line[3]/pack", "line", "line[3]/"),
        ("order[1]/line[3]/pack", "line", "order[1]/line[3]/"),
        ("order[1]/line[3]/pack", "order", "order[1]/"),
        ("order[1]/online[3]/pack", "line", None),
        ("pack", "line", None),
        ("order[1]/line", "line", None),
        ("line[3]", "line", None),
        ("pack", "", ""),
    ],
)
def test_a_turn(path: str, loop: str, turn: str | None) -> None:
    """What everything in it begins with; a loop's own record and a condition are in no turn of it."""
    assert turn_at(path, loop) == turn


def test_in_the_same_turn_alone() -> None:
    """Of a ForEach, and of every loop around it."""
    stored = records("order[0]/line[0]/pack", "order[0]/line[1]/pack", "order[1]/line[0]/pack")
    lookup = Lookup(HOMES, lambda _: True)
    assert found(lookup, stored, "pack", "order[0]/line[0]/weigh") == "order[0]/line[0]/pack"
    assert found(lookup, stored, "pack", "order[1]/line[1]/weigh") is None
    assert found(lookup, stored, "pack", "order[1]/weigh") is found(lookup, stored, "pack", "") is None


def test_what_counts() -> None:
    """What has no output does not, nor what is not over; then the one before it does."""
    stored = records("again[0]/a", "again[1]/a", "again[2]/a").with_changes("again[2]/a", output_text=None)
    assert found(Lookup({}, lambda _: True), stored, "a", "") == "again[1]/a"
    assert found(Lookup({}, lambda record: record.seq < 1), stored, "a", "") == "again[0]/a"


def test_a_picture_that_was_given_up() -> None:
    """A transaction that rolled back takes its record along; another one may stand in its place."""
    lookup = Lookup({}, lambda _: True)
    assert found(lookup, records("a", "b"), "b", "") == "b"
    assert found(lookup, records("a"), "b", "") is None
    assert found(lookup, records("a", "c"), "c", "") == "c"
    assert found(lookup, records("a", "b", "c"), "b", "") == "b"
