"""The tables: executions, their step records, their history, and the workers that drive them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from saga_app import clock, codec
from saga_app.clock import MomentField
from saga_app.core.failures import ErrorInfo
from saga_app.core.status import CompensationStatus, RollbackStatus, Status, StepStatus, StuckReason, UnwindCause
from saga_app.querysets import EventQuerySet, ExecutionQuerySet, StepRecordQuerySet, WorkerQuerySet

STOPPED = [Status.SUSPENDED, Status.STUCK, Status.COMPLETED, Status.FAILED, Status.CANCELLED]
TERMINAL = [Status.COMPLETED, Status.FAILED, Status.CANCELLED]


class Execution(models.Model):
    """One run of a saga. Written only by the store; an operator changes it through the verbs."""

    id = models.UUIDField(primary_key=True, default=clock.uuid7, editable=False)
    saga = models.CharField(_("saga"), max_length=100)
    revision = models.PositiveIntegerField(_("revision"))
    fingerprint = models.CharField(max_length=64)
    key = models.CharField(_("key"), max_length=255, null=True, blank=True)  # noqa: DJ001 - NULL is never equal
    status = models.CharField(_("status"), max_length=20, choices=[(s.value, s.value) for s in Status])
    rollback_status = models.CharField(_("rollback"), max_length=20, blank=True, default="")
    stuck_reason = models.CharField(_("stuck reason"), max_length=30, blank=True, default="")
    input_text = models.TextField(db_column="input")
    output_text = models.TextField(db_column="output", null=True)  # noqa: DJ001 - NULL: no output, not an empty one
    error_text = models.TextField(db_column="error", null=True)  # noqa: DJ001
    cause = models.CharField(max_length=32, blank=True, default="")
    failing_path = models.CharField(max_length=255, blank=True, default="")
    pivoted_at = MomentField(null=True)
    unwinding_at = MomentField(null=True)
    unwind_cause = models.CharField(max_length=20, blank=True, default="")
    cancel_requested_at = MomentField(null=True)
    cancel_reason = models.TextField(blank=True, default="")
    suspend_requested_at = MomentField(null=True)
    suspend_reason = models.TextField(blank=True, default="")
    priority = models.SmallIntegerField(default=0)
    due_at = MomentField(_("due"), null=True)
    epoch = models.BigIntegerField(default=0)
    lease_holder = models.CharField(max_length=150, null=True)  # noqa: DJ001 - NULL: nobody
    writes = models.BigIntegerField(default=0)
    wakes = models.BigIntegerField(default=0)
    deaths = models.SmallIntegerField(default=0)
    next_seq = models.IntegerField(default=0)
    version = models.BigIntegerField(default=0)
    resume_count = models.IntegerField(default=0)
    definition_missing_since = MomentField(null=True)
    created_at = MomentField(_("created"))
    started_at = MomentField(_("started"), null=True)
    updated_at = MomentField(_("updated"))
    finished_at = MomentField(_("finished"), null=True)

    objects = ExecutionQuerySet.as_manager()

    is_new = False
    """Set by start(): this call made it (False: its key named one that was there)."""

    class Meta:
        verbose_name = _("execution")
        verbose_name_plural = _("executions")
        default_permissions = ("view",)
        permissions = [
            ("start_execution", "Can start a saga"),
            ("resume_execution", "Can resume an execution"),
            ("abandon_execution", "Can abandon an execution"),
            ("cancel_execution", "Can cancel an execution"),
            ("suspend_execution", "Can suspend an execution"),
            ("unwind_execution", "Can unwind an execution"),
            ("skip_execution", "Can skip a step"),
            ("resolve_execution", "Can mark a compensation as done by hand"),
            ("rerun_execution", "Can run a saga again"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["saga", "key"], condition=Q(key__isnull=False), name="saga_execution_key"),
            models.CheckConstraint(condition=Q(status__in=list(Status)), name="saga_execution_status"),
            models.CheckConstraint(condition=Q(rollback_status__in=list(RollbackStatus)), name="saga_execution_rollback"),
            models.CheckConstraint(condition=Q(stuck_reason__in=list(StuckReason)), name="saga_execution_reason"),
            models.CheckConstraint(condition=Q(unwind_cause__in=list(UnwindCause)), name="saga_execution_cause"),
            models.CheckConstraint(
                condition=~Q(status__in=STOPPED) | Q(due_at__isnull=True, lease_holder__isnull=True),
                name="saga_execution_stopped_not_due",
            ),
            models.CheckConstraint(  # P6: open means due; there is nothing to wait for without a time (yet)
                condition=Q(status__in=STOPPED) | Q(due_at__isnull=False), name="saga_execution_open_is_due"
            ),
            models.CheckConstraint(
                condition=Q(status="stuck") & ~Q(stuck_reason="") | ~Q(status="stuck") & Q(stuck_reason=""),
                name="saga_execution_stuck_has_reason",
            ),
            models.CheckConstraint(  # terminal means that the rollback is decided too
                condition=~Q(status__in=["failed", "cancelled"]) | ~Q(rollback_status__in=["", "stuck"]),
                name="saga_execution_end_is_decided",
            ),
        ]
        indexes = [
            models.Index(F("priority"), F("due_at"), condition=Q(due_at__isnull=False), name="saga_execution_due"),
            models.Index(F("status"), F("created_at"), condition=~Q(status__in=TERMINAL), name="saga_execution_open"),
            models.Index(F("status"), F("cause"), condition=Q(status="stuck"), name="saga_execution_stuck"),
            models.Index(F("created_at").desc(), F("id").desc(), name="saga_execution_newest"),
            models.Index(F("saga"), F("created_at").desc(), name="saga_execution_saga"),
        ]

    def __str__(self) -> str:
        return f"{self.saga} {self.key or self.pk}"

    @property
    def input(self) -> Any:
        """What it was started with, name by name."""
        return codec.decode(self.input_text)

    @property
    def output(self) -> Any:
        """What it returned; None while it has not."""
        return None if self.output_text is None else codec.decode(self.output_text)

    @property
    def error(self) -> ErrorInfo | None:
        """Why it failed. What became of the rollback is `rollback_status`: neither overwrites the other."""
        return None if self.error_text is None else ErrorInfo.from_json(self.error_text)

    if TYPE_CHECKING:  # bound by the app when it is ready, since the models stand below the engine

        def resume(self, *, actor: Any = None, reason: str = "", version: int | None = None) -> Execution: ...
        def abandon(self, *, actor: Any = None, reason: str = "", version: int | None = None) -> Execution: ...
        def cancel(self, *, actor: Any = None, reason: str = "", version: int | None = None) -> Execution: ...
        def suspend(self, *, actor: Any = None, reason: str = "", version: int | None = None) -> Execution: ...
        def unwind(self, *, actor: Any = None, reason: str = "", version: int | None = None) -> Execution: ...
        def skip(self, path: str, *, happened: bool, output: Any = None, actor: Any = None, reason: str = "",
                 version: int | None = None) -> Execution: ...
        def resolve(self, path: str, *, actor: Any = None, reason: str = "",
                    version: int | None = None) -> Execution: ...
        def rerun(self, *, actor: Any = None, reason: str = "", key: str | None = None) -> Execution: ...
        def wait(self, *, timeout: float = 30.0) -> Execution: ...

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Refuse: only the store writes."""
        refuse_write("an execution", "call a verb: execution.resume(), .cancel(), …")

    def delete(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse: an execution is the record of what was done."""
        refuse_write("an execution", "cancel or abandon it; a record of what was done is kept")


class StuckExecution(Execution):
    """An execution that waits for an operator: the same table, with a list of its own in the admin."""

    class Meta:
        proxy = True
        default_permissions = ()
        verbose_name = _("stuck execution")
        verbose_name_plural = _("stuck executions")


class StepRecord(models.Model):
    """One call of a step in one execution, found by its path."""

    execution = models.ForeignKey(Execution, models.CASCADE, related_name="steps")
    seq = models.IntegerField()
    path = models.CharField(_("path"), max_length=255)
    name = models.CharField(_("step"), max_length=100)
    kind = models.CharField(max_length=20, default="step")
    status = models.CharField(_("status"), max_length=20)
    attempt = models.IntegerField(default=0)
    attempt_limit = models.IntegerField(default=1)
    arguments_text = models.TextField(db_column="arguments", null=True)  # noqa: DJ001
    output_text = models.TextField(db_column="output", null=True)  # noqa: DJ001
    error_text = models.TextField(db_column="error", null=True)  # noqa: DJ001
    attempts_text = models.TextField(db_column="attempts", default="[]")
    idempotency_key = models.CharField(max_length=255)
    owes = models.BooleanField(default=False)
    may_have_happened = models.BooleanField(default=False)
    outcome_known = models.BooleanField(default=True)
    reconciled = models.BooleanField(default=False)
    due_at = MomentField(null=True)
    started_at = MomentField(null=True)
    finished_at = MomentField(null=True)
    compensation_status = models.CharField(max_length=20, blank=True, default="")
    compensation_attempt = models.IntegerField(default=0)
    compensation_limit = models.IntegerField(default=0)
    compensation_due_at = MomentField(null=True)
    compensation_error_text = models.TextField(db_column="compensation_error", null=True)  # noqa: DJ001
    compensation_started_at = MomentField(null=True)
    compensation_finished_at = MomentField(null=True)
    progress = models.FloatField(null=True)
    progress_text = models.CharField(max_length=255, blank=True, default="")

    objects = StepRecordQuerySet.as_manager()

    class Meta:
        verbose_name = _("step record")
        verbose_name_plural = _("step records")
        default_permissions = ()
        ordering = ["seq"]
        constraints = [
            models.UniqueConstraint(fields=["execution", "seq"], name="saga_step_seq"),
            models.UniqueConstraint(fields=["execution", "path"], name="saga_step_path"),
            models.CheckConstraint(condition=Q(status__in=list(StepStatus)), name="saga_step_status"),
            models.CheckConstraint(
                condition=Q(compensation_status__in=list(CompensationStatus)), name="saga_step_compensation"
            ),
        ]

    def __str__(self) -> str:
        return self.path

    @property
    def arguments(self) -> dict[str, Any]:
        """The bound arguments of the forward call, stored before its first attempt."""
        return {} if self.arguments_text is None else codec.decode(self.arguments_text)

    @property
    def output(self) -> Any:
        """What the body returned; None while it has not."""
        return None if self.output_text is None else codec.decode(self.output_text)

    @property
    def error(self) -> ErrorInfo | None:
        """Why the last failed attempt failed."""
        return None if self.error_text is None else ErrorInfo.from_json(self.error_text)

    @property
    def compensation_error(self) -> ErrorInfo | None:
        """Why the last failed attempt of the compensation failed."""
        return None if self.compensation_error_text is None else ErrorInfo.from_json(self.compensation_error_text)

    @property
    def attempts(self) -> list[dict[str, Any]]:
        """The attempts that ended, oldest first, of both directions."""
        return json.loads(self.attempts_text)  # type: ignore[no-any-return]

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Refuse: only the store writes."""
        refuse_write("a step record", "call a verb of its execution: .skip(), .resolve(), …")

    def delete(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse: a step record is the record of what was done."""
        refuse_write("a step record", "it is the record of what was done")


class Event(models.Model):
    """One line of an execution's history: what happened to it, and every verb with who, when and why."""

    execution = models.ForeignKey(Execution, models.CASCADE, related_name="events")
    at = MomentField()
    type = models.CharField(max_length=40)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    actor_name = models.CharField(max_length=255, blank=True, default="")
    reason = models.TextField(blank=True, default="")
    data_text = models.TextField(db_column="data", default="{}")
    request_id = models.CharField(max_length=64, null=True, unique=True)  # noqa: DJ001 - NULL is never equal

    objects = EventQuerySet.as_manager()

    class Meta:
        verbose_name = _("event")
        verbose_name_plural = _("events")
        default_permissions = ()
        ordering = ["id"]

    def __str__(self) -> str:
        return self.type

    @property
    def data(self) -> dict[str, Any]:
        """What else is to be known of it, as JSON values."""
        return json.loads(self.data_text)  # type: ignore[no-any-return]

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Refuse: the history is append-only, and only the store appends."""
        refuse_write("an event", "the history is append-only")

    def delete(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse: the history is append-only."""
        refuse_write("an event", "the history is append-only")


class Worker(models.Model):
    """One process that drives executions, and when it was last seen."""

    id = models.CharField(primary_key=True, max_length=120)
    host = models.CharField(max_length=100)
    pid = models.IntegerField()
    cluster = models.CharField(max_length=100, blank=True, default="")
    started_at = MomentField()
    seen_at = MomentField()
    claimed_at = MomentField(null=True)
    wedged_at = MomentField(null=True)

    objects = WorkerQuerySet.as_manager()

    class Meta:
        verbose_name = _("worker")
        verbose_name_plural = _("workers")
        default_permissions = ("view",)

    def __str__(self) -> str:
        return self.id


def refuse_write(what: str, cure: str) -> None:
    """Raise TypeError: the ORM is not the way to change this row."""
    msg = f"{what} is not saved or deleted by hand: {cure}"
    raise TypeError(msg)
