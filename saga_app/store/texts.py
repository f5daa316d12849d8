"""The large texts of an execution, read one at a time when a call needs them; and the progress a body reports."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import connections

from saga_app.models import Execution, StepRecord
from saga_app.store.events import readable
from saga_app.store.leases import Lease
from saga_app.store.transactions import DatabaseFault

logger = logging.getLogger("saga_app")

AT_ONCE = 500  # paths in one query; SQLite of old takes 999 parameters
LONGEST = 255  # characters of what a body says of its progress


def stored_text(execution_id: UUID, path: str, column: str, using: str) -> str | None:
    """One large column of one step record, or None where it holds nothing."""
    rows = StepRecord.objects.using(using).filter(execution_id=execution_id, path=path)
    return rows.values_list(column, flat=True).first()


def stored_texts(execution_id: UUID, paths: Sequence[str], column: str, using: str) -> dict[str, str]:
    """The same of many, path → text; those that hold nothing are left out."""
    found: dict[str, str] = {}
    for start in range(0, len(paths), AT_ONCE):
        some = paths[start : start + AT_ONCE]
        rows = StepRecord.objects.using(using).filter(execution_id=execution_id, path__in=some)
        found |= dict(rows.exclude(**{column: None}).values_list("path", column))
    return found


def stored_attempts(execution_id: UUID, path: str, using: str) -> list[dict[str, Any]]:
    """The attempts of one step record; none where there is no record."""
    rows = StepRecord.objects.using(using).filter(execution_id=execution_id, path=path)
    return json.loads(rows.values_list("attempts_text", flat=True).first() or "[]")  # type: ignore[no-any-return]


def report_progress(claim: Lease, path: str, fraction: float | None, text: str) -> None:
    """Show how far a body has come, as long as the claim is ours. A database that refuses is no reason to fail."""
    try:
        claim.step(path).update(progress=fraction, progress_text=readable(text[:LONGEST])[:LONGEST])
    except DatabaseFault:
        if connections[claim.using].in_atomic_block:
            raise  # the transaction is broken: what goes on in it would fail with a stranger's error
        logger.warning("The progress of %s in %s could not be shown.", path, claim.execution_id, exc_info=True)


def cancel_requested(claim: Lease) -> bool:
    """Whether somebody has asked for the unwind of the execution, now."""
    rows = Execution.objects.using(claim.using).filter(pk=claim.execution_id)
    return rows.filter(cancel_requested_at__isnull=False).exists()
