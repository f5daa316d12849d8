"""The whole: what is stuck of which cause, who works, and whether what is due is worked on."""

from __future__ import annotations

from datetime import timedelta
from http import HTTPStatus
from typing import Any
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from saga_app import clock
from saga_app.api import parts, serializers
from saga_app.api.base import SagaViewSet
from saga_app.api.problems import problem
from saga_app.api.slices import MOST, SIZE, whole
from saga_app.core.failures import ErrorInfo
from saga_app.models import Worker
from saga_app.store.pulse import Pulse, pulse
from saga_app.store.stuck import counted, is_back, raised
from saga_app.store.transactions import alias
from saga_app.store.workers import UNHEARD, serves

WORKERS = 1_000
GROUP = ("cause", "count", "first", "last", "lately", "again")
WORKER = ("id", "host", "pid", "cluster", "started_at", "seen_at", "claimed_at", "wedged_at")


class WholeViewSet(SagaViewSet):
    """Groups, workers, health."""

    serializer_class = serializers.Summary

    def groups(self, request: Request) -> Response:
        """What is stuck, by its cause, the largest group first; `page_size` (1 to 200, else 50): how many of them."""
        size = whole(request.query_params.get("page_size"), "page_size", 1, MOST, otherwise=SIZE)
        rows = list(counted(self.get_queryset().stuck())[: size + 1])
        return Response({"more": len(rows) > size, "results": [_group(row) for row in rows[:size]]})

    def workers(self, request: Request) -> Response:
        """The worker processes that were seen within the last hour, and the queue that each serves."""
        rows = Worker.objects.using(alias()).order_by("host", "cluster", "pid")[: WORKERS + 1]
        shown = [_worker(row) for row in rows]
        return Response({"more": len(shown) > WORKERS, "results": shown[:WORKERS]})

    def health(self, request: Request) -> Response:
        """200 with numbers; 503 `nobody_works` with the same where something is due that no worker takes."""
        now = pulse(alias())
        idle = _idle(now)
        if not idle:
            return Response(_numbers(now))
        queues = ", ".join(queue or "the default one" for queue in idle)
        said = problem(
            HTTPStatus.SERVICE_UNAVAILABLE, "nobody_works", f"Due, and taken by no worker, in queues: {queues}."
        )
        said.data |= _numbers(now)
        return said


def _idle(now: Pulse) -> list[str]:
    """The queues in which something is due, and which nobody serves who takes anything."""
    served = {serves(cluster.name) for cluster in now.clusters if not cluster.is_wedged}
    return [due.queue for due in now.due if due.queue not in served]


def _numbers(now: Pulse) -> dict[str, Any]:
    return {
        "workers": now.workers,
        "wedged": sum(cluster.workers for cluster in now.wedged),
        "due": [{"queue": due.queue, "count": due.count, "oldest": parts.said(due.oldest)} for due in now.due],
        "stuck": now.stuck,
        "stuck_lately": now.stuck_lately,
    }


def _group(row: dict[str, Any]) -> dict[str, Any]:
    sample = row["sample"]
    text = raised(sample)
    error = None if text is None else ErrorInfo.from_json(text)
    return {
        **{name: parts.said(row[name]) for name in GROUP},
        **{name: sample[name] for name in ("saga", "revision", "failing_path", "stuck_reason")},
        "direction": "compensate" if is_back(sample) else "forward",
        "error": None if error is None else {"type": error.type, "message": error.message[: serializers.LINE]},
        "sample": str(UUID(sample["id"])),
    }


def _worker(row: Worker) -> dict[str, Any]:
    gone = clock.now() - row.seen_at > timedelta(seconds=UNHEARD)
    state = "gone" if gone else "alive" if row.wedged_at is None else "wedged"
    return {**parts.columns(row, WORKER), "queue": serves(row.cluster), "state": state}
