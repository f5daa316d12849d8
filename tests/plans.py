"""Asks PostgreSQL how it answers what a page asks, so that a test can say: by an index, whatever there is in the table.

The planner chooses by what is in the tables, so fill them before (tests/crowd.py): a small table is best read whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

from saga_app.models import Event, Execution, OperatorBatchItem, Signal, StepRecord

BIG = frozenset(model._meta.db_table for model in (Event, Execution, OperatorBatchItem, Signal, StepRecord))


def queries_of(action: Callable[[], Any]) -> list[str]:
    """The reads that the action sends to the default database."""
    with CaptureQueriesContext(connection) as captured:
        action()
    return [query["sql"] for query in captured if query["sql"].lstrip("( ").startswith(("SELECT", "WITH"))]


def read_whole(action: Callable[[], Any]) -> list[str]:
    """Those reads of the action for which a big table would be read from its beginning to its end."""
    return [sql for sql in queries_of(action) if scanned(sql) & BIG]


def scanned(sql: str) -> set[str]:
    """The tables that the planner would read whole to answer it."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}")
        (answer,) = cursor.fetchone()
    plan = json.loads(answer) if isinstance(answer, str) else answer
    return {node["Relation Name"] for node in _nodes(plan[0]["Plan"]) if node["Node Type"].endswith("Seq Scan")}


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", ()):
        yield from _nodes(below)
