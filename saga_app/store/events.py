"""The history: append-only lines, written in the transaction of what they tell."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from saga_app.core.history import history
from saga_app.core.snapshot import Snapshot
from saga_app.models import Event
from saga_app.store import sql
from saga_app.telemetry import execution_changed

logger = logging.getLogger("saga_app")


def append(
    execution_id: UUID,
    kind: str,
    using: str,
    *,
    at: datetime | None = None,
    actor: Any = None,
    reason: str = "",
    data: Mapping[str, Any] | None = None,
    request_id: str | None = None,
) -> None:
    """Append one line. The actor's name is copied, since it must outlive the actor."""
    check_actor(actor)
    known = actor is not None and actor.pk is not None
    values = {
        "execution": execution_id,
        "at": at or sql.moment(using),
        "type": kind,
        "actor": actor.pk if known else None,
        "actor_name": "" if actor is None else str(actor.get_username())[:255],
        "reason": readable(reason),
        "data_text": json.dumps(data or {}),
        "request_id": request_id,
    }
    sql.insert(Event, using, values)


def check_actor(actor: Any) -> None:
    """Raise TypeError for what can be no actor."""
    if actor is not None and not hasattr(actor, "get_username"):
        raise TypeError(f"actor is a user, or None, and not {type(actor).__name__}")


def readable(text: str) -> str:
    """A text that people wrote, as every database stores it."""
    return text.replace("\x00", "\\x00").encode("utf-8", "backslashreplace").decode()


def append_history(execution_id: UUID, before: Snapshot, after: Snapshot, using: str, at: datetime) -> None:
    """Append what the change from one picture to the next means to somebody who reads the history."""
    for kind, data in history(before, after):
        append(execution_id, kind, using, at=at, data=data)
        _tell(execution_id, after, kind, using)


def _tell(execution_id: UUID, x: Snapshot, event: str, using: str) -> None:
    """Log it, and send `execution_changed`, when the transaction now open commits."""

    def send() -> None:
        stuck = event == "stuck"
        where = f" at {x.failing_path or 'no step'} ({x.stuck_reason})" if stuck else ""
        extra = {"saga_execution_id": str(execution_id), "saga_name": x.saga, "saga_event": event}
        level = logging.WARNING if stuck else logging.INFO
        logger.log(level, "%s %s: %s%s", x.saga, execution_id, event, where, extra=extra)
        execution_changed.send_robust(sender=None, execution_id=execution_id, saga=x.saga, event=event)

    transaction.on_commit(send, using=using, robust=True)


def late_result(execution_id: UUID, using: str, data: Mapping[str, Any]) -> None:
    """Leave word of an outcome that could not be recorded: its effect may have landed after its compensation."""
    append(execution_id, "late_result", using, data=data)
