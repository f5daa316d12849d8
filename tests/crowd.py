"""Fills PostgreSQL with the executions of a busy site, by statements and not by running them: for what is about speed.

Most have ended, well or not; every so-manyth is open, and of those some are stuck, in a few causes. The open ones, and
some of the others, have step records and a history. `vacuumed` does what the server does by itself in a quiet minute.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Model

from saga_app import Saga, clock, step
from saga_app.core import registry
from saga_app.core.graph import graph_of
from saga_app.models import (
    Event,
    Execution,
    OperatorBatch,
    OperatorBatchItem,
    SagaVersion,
    Signal,
    StepRecord,
)

DAYS = 90  # over which they were started, evenly
CAUSES = 20
BATCHES = 50
SAGAS = 17
RETIRED = "retired"  # a saga with few executions, whose code is gone
TABLES = [model._meta.db_table for model in (Execution, StepRecord, Event, Signal, OperatorBatchItem)]

MOMENT = f"(%(until)s::timestamptz - (%(count)s - i) * (interval '{DAYS} days' / %(count)s))"
ID = f"""(lpad(to_hex(floor(extract(epoch FROM {MOMENT}) * 1000)::bigint), 12, '0') || '7' || substr(md5(i::text), 1, 3)
    || '8' || substr(md5(i::text), 4, 15))::uuid"""
IS_OPEN, NTH = "(i %% %(every)s = 0)", "(i / %(every)s)"  # which one of the open ones it is
IS_STUCK = f"({IS_OPEN} AND {NTH} %% %(stuck_every)s = 0)"
STATUS = f"""CASE
    WHEN {IS_STUCK} THEN 'stuck'
    WHEN {IS_OPEN} THEN (ARRAY['waiting', 'waiting', 'waiting', 'running', 'pending', 'compensating', 'suspended'])
        [1 + {NTH} %% 7]
    WHEN i %% 20 = 1 THEN 'failed' WHEN i %% 50 = 3 THEN 'cancelled' ELSE 'completed' END"""
ERROR = """'{"type": "builtins.OSError", "message": "no answer to request ' || i || '", "traceback": "'
    || repeat('  File \\"shop/sagas.py\\", line 10, in charge\\n', 15) || '", "notes": []}'"""


@dataclass(frozen=True)
class Crowd:
    """How many there are.

    Attributes:
        count: executions.
        open: of these, not ended.
        stuck: of the open ones.
    """

    count: int
    open: int
    stuck: int

    def fill(self) -> None:
        """Write them; the tables are empty before."""
        known = {
            "until": clock.now(), "count": self.count, "every": self.count // self.open,
            "stuck_every": self.open // self.stuck,
        }  # fmt: skip
        numbers = "generate_series(1, %(count)s) AS i"
        some = f"generate_series(1, %(count)s) AS i, generate_series(0, 2) AS n WHERE {IS_OPEN} OR i %% 20 < 2"
        _insert(Execution, f"(SELECT i, {STATUS} AS state, {MOMENT} AS at FROM {numbers}) AS made", known, _execution())
        _insert(StepRecord, f"(SELECT i, n, {STATUS} AS state, {MOMENT} AS at FROM {some}) AS made", known, _record())
        _insert(Event, f"(SELECT i, n, {MOMENT} AS at FROM {some}) AS made", known, _event())
        _insert(Signal, f"(SELECT i, {MOMENT} AS at FROM {numbers} WHERE i %% 20 = 0) AS made", known, _signal())
        _insert(OperatorBatch, f"(SELECT i FROM generate_series(1, {BATCHES}) AS i) AS made", known, _batch())
        of = f"(SELECT i, i %% {BATCHES} AS batch, {MOMENT} AS at FROM {numbers} WHERE i %% 20 < 2) AS made"
        _insert(OperatorBatchItem, of, known, _item())
        names = f"(SELECT DISTINCT saga FROM {Execution._meta.db_table}) AS made"
        version = {"saga": "saga", "revision": "1", "fingerprint": "'f'", "graph_text": "%(graph)s", "seen_at": "now()"}
        _insert(SagaVersion, names, {"graph": _graph()}, version)


def vacuumed() -> None:
    """Tell the planner what there is, and the indexes which rows everybody may see."""
    with connection.cursor() as cursor:
        for table in TABLES:
            cursor.execute(f"VACUUM (ANALYZE) {table}")


def empty() -> None:
    """Take them all away."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"TRUNCATE {', '.join(TABLES)}, {OperatorBatch._meta.db_table}, {SagaVersion._meta.db_table} CASCADE"
        )


def _graph() -> str:
    """That of the steps that were written."""
    with registry.isolate():
        nothing = step(name="step")(lambda: None)
        return json.dumps(graph_of(Saga("crowd", *[nothing.named(f"step_{n}") for n in range(3)])))


def _execution() -> dict[str, str]:
    stopped = "state IN ('suspended', 'stuck', 'completed', 'failed', 'cancelled')"
    ended = "state IN ('completed', 'failed', 'cancelled')"
    went_back = f"state IN ('failed', 'cancelled', 'compensating') OR ({IS_STUCK} AND i %% 3 > 0)"
    return {
        "id": ID,
        "saga": f"CASE WHEN i %% 50000 = 7 THEN '{RETIRED}' ELSE 'saga-' || i %% {SAGAS} END",
        "revision": "1",
        "fingerprint": "'f'",
        "key": "CASE WHEN i %% 10 > 0 THEN 'order-' || i END",
        "status": "state",
        "rollback_status": "CASE WHEN state IN ('failed', 'cancelled') THEN 'completed' ELSE '' END",
        "stuck_reason": "CASE WHEN state = 'stuck' THEN "
        "(ARRAY['compensation_failed', 'step_failed', 'outcome_unknown'])[1 + i %% 3] ELSE '' END",
        "input_text": "'{\"order\": ' || i || ', \"note\": \"' || repeat('note ', 40) || '\"}'",
        "error_text": f"CASE WHEN state IN ('failed', 'stuck') THEN {ERROR} END",
        "cause": f"CASE WHEN state = 'stuck' THEN substr(md5(({NTH} / %(stuck_every)s %% {CAUSES})::text), 1, 16) "
        "ELSE '' END",
        "failing_path": "CASE WHEN state IN ('failed', 'stuck') THEN 'step_2' ELSE '' END",
        "unwinding_at": f"CASE WHEN {went_back} THEN at + interval '1 minute' END",
        "unwind_cause": f"CASE WHEN {went_back} THEN 'failure' ELSE '' END",
        "due_at": f"CASE WHEN NOT {stopped} THEN now() + interval '10 minutes' END",
        "resume_count": "CASE WHEN i %% 1000 = 0 THEN 2 ELSE 0 END",
        "created_at": "at",
        "started_at": "at",
        "updated_at": "at + interval '1 minute'",
        "status_at": "at + interval '1 minute'",
        "finished_at": f"CASE WHEN {ended} THEN at + interval '1 minute' END",
    }


def _record() -> dict[str, str]:
    failed = "n = 2 AND state IN ('failed', 'stuck')"
    status = f"CASE WHEN {failed} THEN 'failed' WHEN n = 2 AND {IS_OPEN} THEN 'waiting' ELSE 'completed' END"
    return {
        "execution": ID,
        "seq": "n",
        "path": "'step_' || n",
        "name": "'step_' || n",
        "status": status,
        "kind": f"CASE WHEN n = 2 AND {IS_OPEN} AND state = 'waiting' AND i %% 3 = 0 THEN 'approval' ELSE 'step' END",
        "attempt": "1",
        "attempt_limit": "3",
        "arguments_text": "'{\"order\": ' || i || '}'",
        "error_text": f"CASE WHEN {failed} THEN {ERROR} END",
        "idempotency_key": "'saga:' || i || ':' || n",
        "owes": "n < 2",
        "started_at": "at",
        "finished_at": "at",
    }


def _event() -> dict[str, str]:
    verb = "n = 1 AND i %% 100 = 0"
    return {
        "execution": ID,
        "at": "at",
        "type": f"CASE WHEN n = 0 THEN 'started' WHEN {verb} THEN 'resume' ELSE 'stuck' END",
        "actor_name": f"CASE WHEN {verb} THEN 'operator' ELSE '' END",
        "request_id": f"CASE WHEN {verb} THEN 'request-' || i END",
    }


def _signal() -> dict[str, str]:
    return {"execution": ID, "name": "'paid'", "key": "'payment-' || i", "payload_text": "'{}'", "received_at": "at"}


def _batch() -> dict[str, str]:
    return {
        "id": "md5('batch' || (i - 1))::uuid",
        "verb": "'resume'",
        "status": "'completed'",
        "size": f"%(count)s / 10 / {BATCHES}",
        "created_at": "now() - i * interval '1 hour'",
    }


def _item() -> dict[str, str]:
    return {
        "batch": "md5('batch' || batch)::uuid",
        "execution": ID,
        "seen_version": "1",
        "status": "'accepted'",
        "at": "at",
    }


def _insert(model: type[Model], source: str, known: dict[str, Any], given: dict[str, str]) -> None:
    """These expressions for these fields, and its default for every other."""
    columns: dict[str, str] = {}
    values = dict(known)
    for field in model._meta.local_concrete_fields:
        if field.name in given:
            columns[field.column] = given[field.name]
        elif not (field.primary_key or field.null):
            columns[field.column] = f"%(default_{field.name})s"
            values[f"default_{field.name}"] = field.get_default()
    names = ", ".join(f'"{column}"' for column in columns)
    with connection.cursor() as cursor:
        cursor.execute(
            f'INSERT INTO "{model._meta.db_table}" ({names}) SELECT {", ".join(columns.values())} FROM {source}',
            values,
        )
