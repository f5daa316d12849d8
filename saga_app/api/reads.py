"""What one execution consists of: its steps, history, signals, plan, timeline, and what it was at a moment."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from rest_framework.request import Request
from rest_framework.response import Response

from saga_app import acting, clock
from saga_app.api import parts, serializers
from saga_app.api.base import SagaViewSet
from saga_app.api.problems import BadQuery, Conflict
from saga_app.api.slices import Slice, whole
from saga_app.core import registry
from saga_app.core.past import Told, past
from saga_app.core.timeline import timeline
from saga_app.core.unwind import plan_unwind

LARGE = ("arguments", "output", "attempts", "error")
MOST = 1_000  # lines of a plan, rows of a timeline, steps of a state in one answer
MANY = 10_000  # lines of a history that are folded


class ReadViewSet(SagaViewSet):
    """The parts of one execution. 404 where there is none of that id."""

    serializer_class = serializers.Summary

    def steps(self, request: Request, pk: str) -> Response:
        """The step records, in the order they began: `after` (a seq), `page_size` (1 to 200, else 50).

        What may be large comes for `include`, some of `arguments,output,attempts,error`, at most 20 records at once.
        """
        asked, execution = Slice(request, "seq", LARGE), self.execution(pk)
        deferred = {f"{name}_text" for name in LARGE if name not in asked.included}
        deferred |= set() if "error" in asked.included else {"compensation_error_text"}
        saga = registry.get(execution.saga, execution.revision)
        rows = asked.of(execution.steps.defer(*deferred))
        return asked.response([parts.step(row, saga, asked.included) for row in rows])

    def events(self, request: Request, pk: str) -> Response:
        """The history, the oldest line first: `after` (an id), `page_size` (1 to 200, else 50)."""
        asked, execution = Slice(request, "id"), self.execution(pk)
        return asked.response([parts.event(row) for row in asked.of(execution.events.all())])

    def signals(self, request: Request, pk: str) -> Response:
        """The signals that came, the oldest first: `after` (an id), `page_size`; `include=payload`."""
        asked, execution = Slice(request, "id", ("payload",)), self.execution(pk)
        rows = execution.signals.all() if asked.included else execution.signals.defer("payload_text")
        return asked.response([parts.signal(row, asked.included) for row in asked.of(rows)])

    def plan(self, request: Request, pk: str) -> Response:
        """What an unwind does, or would do, in its order: `path`, `action`, `reason`. Empty past the pivot.

        With the `version` that it is the plan of. 409 `unknown_saga` where its definition is not known here.
        """
        start, execution = _start(request), self.execution(pk)
        saga = registry.get(execution.saga, execution.revision)
        if saga is None:
            raise Conflict("What is owed hangs on the definition, which is not known here.", "unknown_saga")
        lines = plan_unwind(saga, acting.facts_of(execution))
        shown = [
            {"path": one.path, "name": one.name, "action": str(one.action), "reason": str(one.reason)}
            for one in lines[start : start + MOST]
        ]
        begun = execution.unwinding_at is not None
        about = {"version": execution.version, "unwinding": begun, "past_pivot": execution.pivoted_at is not None}
        return Response({**about, **_counted(start, len(lines)), "results": shown})

    def timeline(self, request: Request, pk: str) -> Response:
        """When it worked and when it waited: rows of bars, forwards, then back. A bar without `end` goes on."""
        start, execution = _start(request), self.execution(pk)
        rows = timeline(acting.facts_of(execution), execution.created_at)
        shown = [parts.row(one) for one in rows[start : start + MOST]]
        return Response({"version": execution.version, **_counted(start, len(rows)), "results": shown})

    def state(self, request: Request, pk: str) -> Response:
        """What it was at a moment: `at`, ISO 8601 with its zone; without it, now. No values: they have no history."""
        start, at, execution = _start(request), _moment(request.query_params.get("at")), self.execution(pk)
        told = [
            Told(when, kind, json.loads(data))
            for when, kind, data in reversed(
                execution.events.order_by("-id").values_list("at", "type", "data_text")[:MANY]
            )
        ]
        if at < execution.created_at:
            raise BadQuery({"at": "It was not started then."}, code="invalid")
        x = past(acting.facts_of(execution), execution.created_at, told, at)
        records = list(x.records)
        shown = [parts.then(one) for one in records[start : start + MOST]]
        return Response({**parts.state(x, at), **_counted(start, len(records)), "results": shown})


def _start(request: Request) -> int:
    """How many lines were read already."""
    return whole(request.query_params.get("offset"), "offset", 0, 10**9, otherwise=0)


def _counted(start: int, count: int) -> dict[str, int]:
    """How many there are, and how many come after those shown: `offset` leads to them."""
    return {"count": count, "more": max(count - start - MOST, 0)}


def _moment(text: str | None) -> datetime:
    if text is None:
        return clock.now()
    try:
        found = datetime.fromisoformat(text)
        if found.tzinfo is not None:
            return found.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise BadQuery({"at": "A moment in ISO 8601 with its zone: 2026-01-31T12:00:00Z."}, code="invalid")
