"""The table of executions: one row for each run of a saga."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from saga_app import clock, codec
from saga_app.clock import MomentField
from saga_app.core.failures import ErrorInfo
from saga_app.core.status import RollbackStatus, Status, StuckReason, UnwindCause
from saga_app.models.readonly import refuse_write
from saga_app.models.words import words
from saga_app.querysets import ExecutionQuerySet

TERMINAL = ["completed", "failed", "cancelled"]
STOPPED = ["suspended", "stuck", *TERMINAL]


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
    not_before = MomentField(null=True)
    quiet_at = MomentField(null=True)
    deadline_at = MomentField(null=True)
    rested_at = models.CharField(max_length=255, blank=True, default="")
    owes = models.BooleanField(default=False)
    unread = models.IntegerField(default=0)
    queue = models.CharField(max_length=100, blank=True, default="")
    parent = models.ForeignKey("self", models.PROTECT, null=True, related_name="children")
    parent_path = models.CharField(max_length=255, blank=True, default="")
    parent_attempt = models.IntegerField(default=0)
    created_at = MomentField(_("created"))
    started_at = MomentField(_("started"), null=True)
    updated_at = MomentField(_("updated"))
    status_at = MomentField()
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
            ("signal_execution", "Can send a signal to an execution"),
            ("fork_execution", "Can run a saga again from a step on"),
            ("move_execution", "Can move an execution to another revision"),
            ("batch_execution", "Can act on many executions at once"),
        ]
        constraints = [
            models.UniqueConstraint(  # by pattern: it also finds the keys that begin with something
                fields=["key", "saga"],
                opclasses=["varchar_pattern_ops", "varchar_pattern_ops"],
                condition=Q(key__isnull=False),
                name="saga_execution_key",
            ),
            models.CheckConstraint(condition=Q(status__in=words(Status)), name="saga_execution_status"),
            models.CheckConstraint(
                condition=Q(rollback_status__in=words(RollbackStatus)), name="saga_execution_rollback"
            ),
            models.CheckConstraint(condition=Q(stuck_reason__in=words(StuckReason)), name="saga_execution_reason"),
            models.CheckConstraint(condition=Q(unwind_cause__in=words(UnwindCause)), name="saga_execution_cause"),
            models.CheckConstraint(
                condition=~Q(status__in=STOPPED) | Q(due_at__isnull=True, lease_holder__isnull=True),
                name="saga_execution_stopped_not_due",
            ),
            models.CheckConstraint(  # P6: what works is due; only what waits may wait for something without a time
                condition=Q(status__in=[*STOPPED, "waiting", "compensating"]) | Q(due_at__isnull=False),
                name="saga_execution_working_is_due",
            ),
            models.UniqueConstraint(  # exactly one child for each call, whatever crashes
                fields=["parent", "parent_path", "parent_attempt"],
                condition=Q(parent__isnull=False),
                name="saga_execution_child",
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
            models.Index(
                F("queue"), F("priority"), F("due_at"), condition=Q(due_at__isnull=False), name="saga_execution_due"
            ),
            # The lists of the console: the order first, so that a page is read and not sorted; then what is filtered
            # by. What ended well, most of the table, is in two of them, and moves in none.
            models.Index(F("created_at").desc(), F("id").desc(), name="saga_execution_newest"),
            models.Index(F("saga"), F("created_at").desc(), name="saga_execution_saga"),
            models.Index(
                F("created_at").desc(),
                F("id").desc(),
                F("status"),
                F("saga"),
                F("revision"),
                F("queue"),
                F("status_at"),
                F("unwinding_at"),
                F("resume_count"),
                condition=~Q(status__in=TERMINAL),
                name="saga_execution_open",
            ),
            models.Index(
                F("status"),
                F("created_at").desc(),
                F("id").desc(),
                F("saga"),
                condition=Q(status__in=["failed", "cancelled"]),
                name="saga_execution_unwell",
            ),
            models.Index(
                F("status_at").desc(), F("id").desc(), condition=Q(status="stuck"), name="saga_execution_stuck_since"
            ),
            models.Index(  # and grouped by cause, each with its latest
                F("status"),
                F("cause"),
                F("status_at").desc(),
                F("id").desc(),
                F("resume_count"),
                condition=Q(status="stuck"),
                name="saga_execution_stuck",
            ),
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
        def skip(
            self,
            path: str,
            *,
            happened: bool,
            output: Any = None,
            actor: Any = None,
            reason: str = "",
            version: int | None = None,
        ) -> Execution: ...
        def resolve(
            self, path: str, *, actor: Any = None, reason: str = "", version: int | None = None
        ) -> Execution: ...
        def rerun(self, *, actor: Any = None, reason: str = "", key: str | None = None) -> Execution: ...
        def fork(self, path: str, *, actor: Any = None, reason: str = "", key: str | None = None) -> Execution: ...
        def move(
            self, revision: int, *, actor: Any = None, reason: str = "", version: int | None = None
        ) -> Execution: ...
        def signal(
            self, name: str, payload: Any = None, *, key: str | None = None, actor: Any = None, reason: str = ""
        ) -> Execution: ...
        def approve(
            self,
            gate: str,
            *,
            actor: Any,
            reason: str = "",
            values: Mapping[str, Any] | None = None,
            key: str | None = None,
            version: int | None = None,
        ) -> Execution: ...
        def reject(
            self,
            gate: str,
            *,
            actor: Any,
            reason: str = "",
            values: Mapping[str, Any] | None = None,
            key: str | None = None,
            version: int | None = None,
        ) -> Execution: ...
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


class Overview(Execution):
    """No table of its own: the place in the admin where an operator looks first."""

    class Meta:
        proxy = True
        default_permissions = ()
        verbose_name = _("overview")
        verbose_name_plural = _("overview")
