"""Tells outsiders what happened, after it is committed; whatever they do with it cannot harm the engine."""

from __future__ import annotations

import logging
from typing import Any
from uuid import UUID

from django.db import transaction
from django.dispatch import Signal

logger = logging.getLogger("saga_app")

execution_changed = Signal()
"""Sent after commit with `execution_id` (UUID), `saga` (name) and `event` (a type of `Event`). Receivers that raise
are logged and otherwise ignored."""


def tell(execution_id: UUID, saga: str, event: str, using: str) -> None:
    """Send `execution_changed` when the transaction now open commits."""
    transaction.on_commit(lambda: _send(execution_id, saga, event), using=using, robust=True)


def _send(execution_id: UUID, saga: str, event: str) -> None:
    level = logging.WARNING if event == "stuck" else logging.INFO
    extra: dict[str, Any] = {"saga_execution_id": str(execution_id), "saga_name": saga, "saga_event": event}
    logger.log(level, "%s %s: %s", saga, execution_id, event, extra=extra)
    execution_changed.send_robust(sender=None, execution_id=execution_id, saga=saga, event=event)
