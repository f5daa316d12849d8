"""Leaves word of a result that came too late to be recorded: its effect may have landed after its compensation."""

from __future__ import annotations

import logging

from saga_app.core.outcomes import Outcome
from saga_app.core.snapshot import Record
from saga_app.store import events
from saga_app.store.leases import Lease
from saga_app.store.texts import stored_attempts
from saga_app.store.transactions import DatabaseFault

logger = logging.getLogger("saga_app")

LONGEST_WORD = 500  # characters of an error that the history keeps


def leave_word(claim: Lease, told: Outcome, record: Record) -> None:
    """Append a `late_result` to the history, unless the write whose answer was lost had landed after all.

    Args:
        claim: the claim that was lost.
        told: how the call ended.
        record: its step record with that outcome, as it would have been written.
    """
    data = {"path": told.path, "direction": str(told.direction), "how": str(told.how)}
    if told.error:
        data["error"] = told.error.text[:LONGEST_WORD]
    try:
        if not _is_recorded(claim, record):
            events.late_result(claim.execution_id, claim.using, data)
    except DatabaseFault:
        logger.exception("Execution %s: a late result could not be noted: %s", claim.execution_id, data)


def _is_recorded(claim: Lease, record: Record) -> bool:
    """Whether the table's record has that very attempt with that very end."""
    stored = stored_attempts(claim.execution_id, record.path, claim.using)
    return bool(record.attempts) and record.attempts[-1] in stored
