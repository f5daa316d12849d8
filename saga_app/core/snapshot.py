"""A frozen picture of one execution: what a decision looks at, and what a change produces.

The fields are those of the tables, name by name; the store writes the difference between two pictures. Values
stay as their stored text, since no decision depends on what a value says; where a text is large and not needed, it
is `ELSEWHERE`: there is one, in the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from saga_app.core.status import CompensationStatus, RollbackStatus, Status, StepStatus, StuckReason, UnwindCause

ELSEWHERE = ""  # no JSON text is empty


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One call of a step in one execution."""

    id: int | None = None
    """The row, once there is one."""
    seq: int
    path: str
    name: str
    kind: str = "step"
    status: StepStatus = StepStatus.RUNNING
    attempt: int = 0
    attempt_limit: int = 1
    arguments_text: str | None = None
    output_text: str | None = None
    error_text: str | None = None
    attempts: tuple[Mapping[str, Any], ...] = ()
    idempotency_key: str = ""
    owes: bool = False
    """It had a compensation, and was not opted out, when it ran."""
    may_have_happened: bool = False
    """At least one attempt is not known to have done nothing."""
    outcome_known: bool = True
    """The last attempt returned or raised; False: it timed out or its worker died."""
    reconciled: bool = False
    """Reconcile was asked about the last attempt and did not know."""
    due_at: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    compensation_status: CompensationStatus = CompensationStatus.NONE
    compensation_attempt: int = 0
    compensation_limit: int = 0
    compensation_due_at: datetime | None = None
    compensation_error_text: str | None = None
    compensation_started_at: datetime | None = None
    compensation_finished_at: datetime | None = None

    def but(self, **changes: Any) -> Record:
        """The same record with some fields changed."""
        return replace(self, **changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One execution with its step records, in the order they started."""

    saga: str
    revision: int
    fingerprint: str = ""
    status: Status = Status.PENDING
    rollback_status: RollbackStatus = RollbackStatus.NONE
    stuck_reason: StuckReason = StuckReason.NONE
    output_text: str | None = None
    error_text: str | None = None
    cause: str = ""
    failing_path: str = ""
    pivoted_at: datetime | None = None
    unwinding_at: datetime | None = None
    unwind_cause: UnwindCause = UnwindCause.NONE
    cancel_requested_at: datetime | None = None
    cancel_reason: str = ""
    suspend_requested_at: datetime | None = None
    suspend_reason: str = ""
    due_at: datetime | None = None
    deaths: int = 0
    next_seq: int = 0
    resume_count: int = 0
    definition_missing_since: datetime | None = None
    not_before: datetime | None = None
    """It is not begun before that moment."""
    quiet_at: datetime | None = None
    """Until then a worker that lost this execution may still be inside the body of a step."""
    started_at: datetime | None = None
    finished_at: datetime | None = None
    records: tuple[Record, ...] = ()

    def but(self, **changes: Any) -> Snapshot:
        """The same picture with some fields changed."""
        return replace(self, **changes)

    def record(self, path: str) -> Record | None:
        """The record of that path, or None: it has not started."""
        return next((record for record in self.records if record.path == path), None)

    def known(self, path: str) -> Record:
        """The record of that path, which must be there."""
        record = self.record(path)
        if record is None:
            raise LookupError(path)
        return record

    def with_record(self, path: str, **changes: Any) -> Snapshot:
        """The same picture with some fields of one record changed."""
        return self.but(records=tuple(r.but(**changes) if r.path == path else r for r in self.records))

    @property
    def unwinding(self) -> bool:
        """It goes backwards, whatever the status says."""
        return self.unwinding_at is not None
