"""The large texts of an execution, read one at a time when a call needs them; and the progress a body reports."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Exists

from saga_app.models import Execution, StepRecord
from saga_app.store.claims import Claim


def stored_text(execution_id: UUID, path: str, column: str, using: str) -> str | None:
    """One large column of one step record, or None where it holds nothing."""
    rows = StepRecord.objects.using(using).filter(execution_id=execution_id, path=path)
    return rows.values_list(column, flat=True).first()


def report_progress(claim: Claim, path: str, fraction: float | None, text: str) -> None:
    """Show how far a body has come, as long as the claim is ours."""
    ours = Exists(Execution.objects.using(claim.using).filter(pk=claim.execution_id, lease_holder=claim.holder))
    rows = StepRecord.objects.using(claim.using).filter(ours, execution_id=claim.execution_id, path=path)
    rows.update(progress=fraction, progress_text=text[:255])


def cancel_requested(claim: Claim) -> bool:
    """Whether somebody has asked for the unwind of the execution, now."""
    rows = Execution.objects.using(claim.using).filter(pk=claim.execution_id)
    return rows.filter(cancel_requested_at__isnull=False).exists()
