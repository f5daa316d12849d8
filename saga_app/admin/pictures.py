"""The timeline and the graph of an execution, as it is or as it was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.http import HttpRequest

from saga_app.admin.drawing import Drawing, drawing
from saga_app.admin.moments import address
from saga_app.admin.timeline import timeline_of
from saga_app.core import registry
from saga_app.core.graph import graph_of
from saga_app.core.snapshot import Record, Snapshot
from saga_app.core.standing import standings
from saga_app.models import Execution, SagaVersion
from saga_app.store.transactions import alias

MOST = 150  # nodes of a graph that is drawn: a larger one is a page that nobody can look at


class Addresses:
    """Where on the run page a step is told of.

    Args:
        x: the execution as it is, or was.
        size: steps on one page of them.
        then: the moment that is looked at; None: now.
    """

    def __init__(self, x: Snapshot, size: int, then: datetime | None = None) -> None:
        self._pages = {record.seq: at // size + 1 for at, record in enumerate(x.records)}
        self._before = "?" if then is None else f"{address(then)}&"

    def __call__(self, record: Record) -> str:
        return f"{self._before}steps={self._pages[record.seq]}#step-{record.seq}"


def context(
    request: HttpRequest, execution: Execution, x: Snapshot, now: datetime, addresses: Addresses
) -> dict[str, Any]:
    """Both pictures; `no_drawing` says why there is no graph."""
    wanted = request.GET.get("timeline")
    graph = _graph(execution)
    too_large = graph is not None and len(graph["nodes"]) > MOST
    return {
        "timeline": timeline_of(x, execution.created_at, now, wanted, addresses),
        "drawing": _drawn(graph, x, addresses) if graph is not None and not too_large else None,
        "too_large": too_large,
    }


def _drawn(graph: Mapping[str, Any], x: Snapshot, addresses: Addresses) -> Drawing:
    found = standings(graph, x)
    return drawing(graph, found.states, found.turns, {record.name: addresses(record) for record in x.records})


def _graph(execution: Execution) -> Mapping[str, Any] | None:
    """The saga as it was when this began: that of the code, where it is the same; else what was kept of it."""
    saga = registry.get(execution.saga, execution.revision)
    if saga is not None and saga.fingerprint == execution.fingerprint:
        return graph_of(saga)
    kept = SagaVersion.objects.using(alias()).filter(saga=execution.saga, revision=execution.revision)
    text = kept.filter(fingerprint=execution.fingerprint).values_list("graph_text", flat=True).first()
    graph: Mapping[str, Any] | None = json.loads(text) if text else graph_of(saga) if saga is not None else None
    return graph
