"""Between the tables and the snapshot: reading a picture, and writing the difference between two."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any
from uuid import UUID

from saga_app.core.snapshot import ELSEWHERE, Record, Snapshot
from saga_app.core.status import check_move
from saga_app.models import Execution, StepRecord
from saga_app.store import sql

OF_OTHER_TABLES = {"records", "signals", "kids"}
EXECUTION_FIELDS = tuple(f.name for f in fields(Snapshot) if f.name not in OF_OTHER_TABLES)
RECORD_FIELDS = tuple(f.name for f in fields(Record) if f.name != "attempts")
LARGE = ("arguments_text", "output_text")
READ = (*(name for name in RECORD_FIELDS if name not in LARGE), "attempts_text")


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
    found = sql.run(
        StepRecord,
        using,
        _select(),
        [sql.prepared(StepRecord, using, "execution", execution_id)],
        READ,
        extra=len(LARGE),
    )
    return [_record(row) for row in found]


@cache
def _select() -> str:
    there = ", ".join(f"{sql.columns(StepRecord, [name])} IS NOT NULL" for name in LARGE)
    read = sql.columns(StepRecord, READ)
    where = 'WHERE "execution_id" = %s ORDER BY "seq"'
    return f"SELECT {read}, {there} FROM {sql.table(StepRecord)} {where}"


def _record(row: dict[str, Any]) -> Record:
    there = zip(LARGE, row.pop("extra"), strict=True)
    attempts = tuple(json.loads(row.pop("attempts_text")))
    large: dict[str, Any] = {name: ELSEWHERE if has else None for name, has in there}
    return Record(**row, **large, attempts=attempts)


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
    return after.with_records(written)


def _insert(execution_id: UUID, record: Record, using: str) -> Record:
    values = {name: getattr(record, name) for name in RECORD_FIELDS if name != "id"}
    others = {"execution": execution_id, "attempts_text": json.dumps(record.attempts), "progress_text": ""}
    return record.but(id=sql.insert(StepRecord, using, values | others))


def _update(known: Record, record: Record, using: str) -> None:
    changes = _changed(known, record, RECORD_FIELDS)
    if record.attempts != known.attempts:
        changes["attempts_text"] = json.dumps(record.attempts)
    if changes:
        sql.update(StepRecord, using, changes, {"id": known.id})


def _changed(before: object, after: object, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(after, name) for name in names if getattr(after, name) != getattr(before, name)}
