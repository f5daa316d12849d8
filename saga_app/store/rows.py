"""Between the tables and the snapshot: reading a picture, and writing the difference between two."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any
from uuid import UUID

from saga_app.core import family
from saga_app.core.records import Records
from saga_app.core.snapshot import ELSEWHERE, Kid, Record, Signal, Snapshot
from saga_app.core.status import TERMINAL, check_move
from saga_app.models import Execution, StepRecord
from saga_app.models import Signal as SignalRow
from saga_app.store import sql

NOT_COLUMNS = {"records", "signals", "consumed", "kids", "presuming"}
EXECUTION_FIELDS = tuple(f.name for f in fields(Snapshot) if f.name not in NOT_COLUMNS)
RECORD_FIELDS = tuple(f.name for f in fields(Record) if f.name != "attempts")
LARGE = ("arguments_text", "output_text")
READ = (*(name for name in RECORD_FIELDS if name not in LARGE), "attempts_text")
RELATIVE = {"unread"}  # written as a difference only, since signals come at any time
SIGNAL_FIELDS = tuple(f.name for f in fields(Signal))
ALIKE = ("saga", "status", "rollback_status", "stuck_reason", "owes", "rested_at", "error_text")  # in a Kid and a row
KID_COLUMNS = ("id", *ALIKE, "pivoted_at", "unwinding_at", "cancel_requested_at")
AT_ONCE = 500  # ids in one statement


def load_facts(row: Mapping[str, Any], using: str) -> Snapshot:
    """The picture of an execution whose columns have been read, its id among them; what is not needed is not asked for.

    Args:
        row: the columns, `wakes` read with them or before.
        using: the database alias.
    """
    return whole(snapshot(row, ()), row["id"], using)


def whole(x: Snapshot, execution_id: UUID, using: str) -> Snapshot:
    """The picture with all records, the signals that nobody has consumed, and the children whose state matters."""
    x = x.but(records=load_records(execution_id, using))
    if x.unread > 0:
        x = x.but(signals=load_signals(execution_id, using))
    watched = family.watched(x)
    return x.but(kids=load_kids(watched, using)) if watched else x


def snapshot(values: Mapping[str, Any], records: Iterable[Record]) -> Snapshot:
    """The picture made of an execution's columns and its records."""
    known = {name: values[name] for name in EXECUTION_FIELDS if name in values}
    return Snapshot(**known, records=Records(records))


def columns_of(execution: Execution) -> dict[str, Any]:
    """A loaded row's columns, as far as a snapshot wants them; a large one that was not loaded is ELSEWHERE."""
    loaded = execution.__dict__
    return {name: loaded.get(name, ELSEWHERE) for name in EXECUTION_FIELDS} | {"id": execution.pk}


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


def load_signals(execution_id: UUID, using: str) -> tuple[Signal, ...]:
    """The signals of an execution that nobody has consumed, oldest first."""
    columns, table = sql.columns(SignalRow, SIGNAL_FIELDS), sql.table(SignalRow)
    text = f'SELECT {columns} FROM {table} WHERE "execution_id" = %s AND "consumed_by" = \'\' ORDER BY "id"'
    params = [sql.prepared(SignalRow, using, "execution", execution_id)]
    return tuple(Signal(**row) for row in sql.run(SignalRow, using, text, params, SIGNAL_FIELDS))


def load_kids(ids: Sequence[UUID], using: str) -> dict[UUID, Kid]:
    """What a parent looks at of its children. What they returned matters once they have ended."""
    ended = ", ".join(f"'{status}'" for status in sorted(TERMINAL))
    output = f'CASE WHEN "status" IN ({ended}) THEN {sql.columns(Execution, ["output_text"])} END'
    found: dict[UUID, Kid] = {}
    for first in range(0, len(ids), AT_ONCE):
        some = [sql.prepared(Execution, using, "id", each) for each in ids[first : first + AT_ONCE]]
        places = ", ".join(["%s"] * len(some))
        columns, table = sql.columns(Execution, KID_COLUMNS), sql.table(Execution)
        text = f'SELECT {columns}, {output} FROM {table} WHERE "id" IN ({places})'
        found |= {row["id"]: _kid(row) for row in sql.run(Execution, using, text, some, KID_COLUMNS, extra=1)}
    return found


def _kid(row: Mapping[str, Any]) -> Kid:
    return Kid(
        pivoted=row["pivoted_at"] is not None,
        unwinding=row["unwinding_at"] is not None,
        cancel_requested=row["cancel_requested_at"] is not None,
        output_text=row["extra"][0],
        **{name: row[name] for name in ALIKE},
    )


def consumed_anew(before: Snapshot, after: Snapshot) -> tuple[tuple[int, str], ...]:
    """The signals that were consumed between two pictures, each with the path of the record that took it."""
    return after.consumed[len(before.consumed) :]


def write_signals(before: Snapshot, after: Snapshot, using: str) -> Snapshot:
    """Mark what was consumed; the picture without it. The execution's row is locked, and its count is the caller's."""
    taken = consumed_anew(before, after)
    for signal_id, path in taken:
        sql.update(SignalRow, using, {"consumed_by": path}, {"id": signal_id})
    return after.but(unread=before.unread - len(taken), consumed=()) if taken else after


def execution_changes(before: Snapshot, after: Snapshot) -> dict[str, Any]:
    """The columns of the execution that differ. Raises IllegalMove for a status the table does not allow."""
    check_move(before.status, after.status)
    changes = _changed(before, after, EXECUTION_FIELDS)
    return {name: value for name, value in changes.items() if name not in RELATIVE}


def write_records(execution_id: UUID, before: Snapshot, after: Snapshot, using: str) -> Snapshot:
    """Insert the new records and update those that differ, by id; the picture with the new rows' ids."""
    written = after.records
    for record in after.records.not_in(before.records):
        known = before.record(record.path)
        if known is None:
            written = written.put(_insert(execution_id, record, using))
        else:
            _update(known, record, using)
    return after.but(records=written)


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
