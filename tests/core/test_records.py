"""The records of a picture: found by path, copied cheaply, and compared by what is no longer the same object."""

from __future__ import annotations

from saga_app.core.records import Records
from saga_app.core.snapshot import Record
from saga_app.core.status import StepStatus


def record(number: int) -> Record:
    return Record(seq=number, path=f"p{number}", name=f"p{number}")


def test_what_is_new_or_changed() -> None:
    """Each at its place: what is merely equal was put there again, and is written again for nothing."""
    before = Records([record(0), record(1), record(2)])
    changed = before.with_changes("p1", status=StepStatus.FAILED).and_also(record(3))
    assert [one.path for one in changed.not_in(before)] == ["p1", "p3"]
    assert changed.not_in(changed) == [] and before.not_in(before) == []
    assert changed.not_in(Records()) == list(changed)


def test_a_copy_that_was_given_up_is_not_seen() -> None:
    """Two copies of one picture, each with another record at its end, share an index of paths."""
    before = Records([record(0)])
    one, other = before.and_also(record(1)), before.and_also(record(2))
    assert (one.at("p1"), one.at("p2")) == (record(1), None)
    assert (other.at("p1"), other.at("p2"), before.at("p1")) == (None, record(2), None)
    assert [each.attempt for each in other.put(record(2).but(attempt=1))] == [0, 1]
