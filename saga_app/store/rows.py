"""Between the tables and the snapshot: reading a picture, and writing the difference between two."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any
from uuid import UUID

from django.db.models import BooleanField, ExpressionWrapper, Q

from saga_app.core.snapshot import ELSEWHERE, Record, Snapshot
from saga_app.core.status import check_move
from saga_app.models import Execution, StepRecord

NOT_COLUMNS = {"records", "quiet_at"}
EXECUTION_FIELDS = tuple(f.name for f in fields(Snapshot) if f.name not in NOT_COLUMNS)
RECORD_FIELDS = tuple(f.name for f in fields(Record) if f.name != "attempts")
LARGE = ("arguments_text", "output_text")


def snapshot(values: Mapping[str, Any], records: Iterable[Record]) -> Snapshot:
    """The picture made of an execution's columns and its records."""
    known = {name: values[name] for name in EXECUTION_FIELDS if name in values}
    return Snapshot(**known, records=tuple(records))


def columns_of(execution: Execution) -> dict[str, Any]:
    """A loaded row's columns, as far as a snapshot wants them; a large one that was not loaded is ELSEWHERE."""
    loaded = execution.__dict__
    return {name: loaded.get(name, ELSEWHERE) for name in EXECUTION_FIELDS}


def load_records(execution_id: UUID, using: str) -> list[Record]:
    """The step records of an execution, in the order they started, without the texts that may be large."""
    rows = (
        StepRecord.objects.using(using)
        .filter(execution_id=execution_id)
        .defer(*LARGE)
        .annotate(**{f"has_{name}": _has(name) for name in LARGE})
        .order_by("seq")
    )
    return [_record(row) for row in rows]


def _has(name: str) -> ExpressionWrapper[Any]:
    return ExpressionWrapper(Q(**{f"{name}__isnull": False}), output_field=BooleanField())


def _record(row: StepRecord) -> Record:
    values: dict[str, Any] = {name: getattr(row, name) for name in RECORD_FIELDS if name not in LARGE}
    large: dict[str, Any] = {name: ELSEWHERE if getattr(row, f"has_{name}") else None for name in LARGE}
    return Record(**values, **large, attempts=tuple(json.loads(row.attempts_text)))


def execution_changes(before: Snapshot, after: Snapshot) -> dict[str, Any]:
    """The columns of the execution that differ. Raises IllegalMove for a status the table does not allow."""
    check_move(before.status, after.status)
    return _changed(before, after, EXECUTION_FIELDS)


def write_records(execution_id: UUID, before: Snapshot, after: Snapshot, using: str) -> Snapshot:
    """Insert the new records and update those that differ, by id; the picture with the new rows' ids."""
    old = {record.path: record for record in before.records}
    written = []
    for record in after.records:
        known = old.get(record.path)
        if known is None:
            written.append(_insert(execution_id, record, using))
            continue
        if known is not record:
            _update(known, record, using)
        written.append(record)
    return after.but(records=tuple(written))


def _insert(execution_id: UUID, record: Record, using: str) -> Record:
    values = {name: getattr(record, name) for name in RECORD_FIELDS if name != "id"}
    row = StepRecord(execution_id=execution_id, attempts_text=json.dumps(record.attempts), **values)
    StepRecord.objects.using(using).bulk_create([row])
    return record.but(id=row.pk)


def _update(known: Record, record: Record, using: str) -> None:
    changes = _changed(known, record, RECORD_FIELDS)
    if record.attempts != known.attempts:
        changes["attempts_text"] = json.dumps(record.attempts)
    if changes:
        StepRecord.objects.using(using).filter(pk=known.id or 0).update(**changes)


def _changed(before: object, after: object, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(after, name) for name in names if getattr(after, name) != getattr(before, name)}
