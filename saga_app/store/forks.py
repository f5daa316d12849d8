"""What a fork writes: the new execution's records, and who answers for undoing what they stand for (design §12)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar
from uuid import UUID

from saga_app.core.forks import Fork
from saga_app.core.snapshot import Record
from saga_app.core.status import TERMINAL, Status, StepStatus
from saga_app.models import Execution, StepRecord
from saga_app.store import changes, rows
from saga_app.store.changes import Locked

T = TypeVar("T")

AT_ONCE = 100  # rows, each with values that may be large


def lock_children(fork: Fork, using: str) -> Record | None:
    """Lock the children whose records are taken, below their parent; the record of one that does not stand, if any."""
    wanted = {one.child_id: one for one in fork.taken if one.child_id is not None}
    for ids in _portions(sorted(wanted)):
        children = Execution.objects.using(using).only("status", "unwinding_at").order_by("pk")
        for child in children.select_for_update(no_key=True).filter(pk__in=ids):
            record = wanted[child.pk]
            ended_well = child.status == Status.COMPLETED and child.unwinding_at is None
            if child.status not in TERMINAL or (record.status == StepStatus.COMPLETED and not ended_well):
                return record
    return None


def take_over(old: Locked, new_id: UUID, fork: Fork, using: str) -> None:
    """Give the taken records to a new execution, which was inserted in this transaction; the old row is locked."""
    begun = fork.begun
    old_rows = StepRecord.objects.using(using)
    Execution.objects.using(using).filter(pk=new_id).update(next_seq=begun.next_seq, pivoted_at=begun.pivoted_at)
    for ids in _portions([one.child_id for one in fork.taken if one.child_id is not None]):
        Execution.objects.using(using).filter(pk__in=ids).update(parent=new_id)
    for records in _portions(list(zip(fork.taken, begun.records, strict=True))):
        sources = {row.path: row for row in old_rows.filter(pk__in=[taken.id for taken, _ in records])}
        copies = [_copy(sources[taken.path], copy, new_id) for taken, copy in records]
        StepRecord.objects.using(using).bulk_create(copies)
    taken = {one.path for one in fork.taken}
    after = [one.but(taken_by=new_id) if one.path in taken else one for one in old.facts.records]
    changes.change(old, old.facts.with_records(after), using)


def _copy(row: StepRecord, record: Record, new_id: UUID) -> StepRecord:
    """The row as the new execution has it. What may be large is in no picture, and is copied as it is."""
    row.pk, row.execution_id = None, new_id
    row._state.adding = True  # noqa: SLF001 - as Django's documentation says to copy a row
    for name in rows.RECORD_FIELDS:
        if name not in (*rows.LARGE, "id"):
            setattr(row, name, getattr(record, name))
    return row


def _portions(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for first in range(0, len(items), AT_ONCE):
        yield items[first : first + AT_ONCE]
