"""A frozen picture of one execution: what a decision looks at, and what a change produces.

The fields are those of the tables, name by name; the store writes the difference between two pictures. Values
stay as their stored text, since no decision depends on what a value says; where a text is large and not needed, it
is `ELSEWHERE`: there is one, in the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any
from uuid import UUID

from saga_app.core.facts import Facts
from saga_app.core.records import Records
from saga_app.core.status import (
    TERMINAL,
    CompensationStatus,
    RollbackStatus,
    Status,
    StepStatus,
    StuckReason,
    UnwindCause,
)

ELSEWHERE = ""  # no JSON text is empty


@dataclass(frozen=True, slots=True, kw_only=True)
class Record(Facts):
    """One call of a step in one execution."""

    id: int | None = None
    """The row, once there is one."""
    seq: int
    path: str
    name: str
    kind: str = "step"
    status: StepStatus = StepStatus.RUNNING
    choice: str = ""
    """What a compute chose, and how a gate was opened."""
    turn: int = 0
    """Of a ForEach: the items before this one are over."""
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
    child_id: UUID | None = None
    origin: UUID | None = None
    """The execution whose idempotency keys it carries, where it was taken over by a fork."""
    taken_by: UUID | None = None
    """The fork that took it over: its compensation is owed there."""
    queue: str = ""
    row_due_at: datetime | None = None
    """Of a queued step: when a worker may claim it, or its lease ends; None while it is not in a queue."""
    row_epoch: int = 0
    row_holder: str | None = None
    row_quiet_at: datetime | None = None
    """Of a queued step: until then a worker that lost it may still be inside its body."""
    row_deaths: int = 0

    @property
    def in_queue(self) -> bool:
        """Some worker has it, or may take it: only a worker that claims it may change it."""
        return self.row_due_at is not None

    @property
    def is_called(self) -> bool:
        """Somebody's intent is written, of either direction, and no outcome."""
        return self.status == StepStatus.RUNNING or self.compensation_status == CompensationStatus.RUNNING


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """A message that has come and was not consumed.

    Attributes:
        id: the row; smaller came first.
        name: the signal's name, or the path of the gate it is meant for.
        received_at: when, by the database's clock under the row lock: what a deadline is compared with.
        payload_text: what it brings, encoded.
        verdict: of an approval `approved` or `rejected`, else empty.
    """

    id: int
    name: str
    received_at: datetime
    payload_text: str
    verdict: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kid:
    """What a parent looks at of a child."""

    saga: str
    status: Status
    rollback_status: RollbackStatus = RollbackStatus.NONE
    stuck_reason: StuckReason = StuckReason.NONE
    pivoted: bool = False
    owes: bool = False
    """It ended well, and something of it could be undone."""
    unwinding: bool = False
    cancel_requested: bool = False
    rested_at: str = ""
    output_text: str | None = None
    error_text: str | None = None

    @property
    def is_asked(self) -> bool:
        """It would refuse to be cancelled: it goes back, is going to, or goes only forward."""
        return self.unwinding or self.pivoted or self.cancel_requested

    @property
    def halts(self) -> bool:
        """It is not undone before an operator acts on it, or at all."""
        if self.status == Status.STUCK:
            return self.is_asked
        return self.status in TERMINAL and (self.pivoted or self.rollback_status == RollbackStatus.ABANDONED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot(Facts):
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
    queue: str = ""
    """The queue of whatever names none of its own."""
    deadline_at: datetime | None = None
    """After that moment it fails, unless it is past its pivot."""
    rested_at: str = ""
    """The milestone at which its unwind rested."""
    owes: bool = False
    """It ended well, and something of it could be undone: what its parent asks."""
    unread: int = 0
    """Signals that came and were not consumed; `signals` has them."""
    presuming: bool = False
    """Decided because something had not come: true only as long as nothing has. Never stored."""
    records: Records = field(default_factory=Records)
    signals: tuple[Signal, ...] = ()
    consumed: tuple[tuple[int, str], ...] = ()
    """Signals that a decision has just consumed: id, and the path of the record that took it. Never loaded."""
    kids: Mapping[UUID, Kid] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    """Those children whose state matters: of records that are not over, or, backwards, that are owed."""

    def __post_init__(self) -> None:
        """Take any sequence of records."""
        records: Any = self.records
        if not isinstance(records, Records):
            object.__setattr__(self, "records", Records(records))

    def but(self, **changes: Any) -> Snapshot:
        """The same picture with some fields changed; its records may be any sequence of them."""
        if not isinstance(changes.get("records", self.records), Records):
            changes["records"] = Records(changes["records"])
        return Facts.but(self, **changes)  # super() does not find itself in a dataclass with slots

    def record(self, path: str) -> Record | None:
        """The record of that path, or None: it has not started."""
        return self.records.at(path)

    def known(self, path: str) -> Record:
        """The record of that path, which must be there."""
        record = self.record(path)
        if record is None:
            raise LookupError(path)
        return record

    def with_record(self, path: str, **changes: Any) -> Snapshot:
        """The same picture with some fields of one record changed."""
        return self.but(records=self.records.with_changes(path, **changes))

    def with_records(self, records: Iterable[Record]) -> Snapshot:
        """The same picture with these records, which have the paths of those it had."""
        return self.but(records=Records(records))

    @property
    def unwinding(self) -> bool:
        """It goes backwards, whatever the status says."""
        return self.unwinding_at is not None
