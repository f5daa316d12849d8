"""The table of step records: one row for each call of a step in one execution."""

from __future__ import annotations

import json
from typing import Any

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from saga_app import codec
from saga_app.clock import MomentField
from saga_app.core.failures import ErrorInfo
from saga_app.core.status import CompensationStatus, StepStatus
from saga_app.models.execution import Execution
from saga_app.models.readonly import refuse_write
from saga_app.models.words import words
from saga_app.querysets import StepRecordQuerySet


class StepRecord(models.Model):
    """One call of a step in one execution, found by its path."""

    execution = models.ForeignKey(Execution, models.CASCADE, related_name="steps")
    seq = models.IntegerField()
    path = models.CharField(_("path"), max_length=255)
    name = models.CharField(_("step"), max_length=100)
    kind = models.CharField(max_length=20, default="step")
    status = models.CharField(_("status"), max_length=20)
    choice = models.CharField(max_length=100, blank=True, default="")
    turn = models.IntegerField(default=0)
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
    child = models.ForeignKey(Execution, models.PROTECT, null=True, related_name="+")
    origin = models.UUIDField(null=True)
    taken_by = models.UUIDField(null=True)
    queue = models.CharField(max_length=100, blank=True, default="")
    row_due_at = MomentField(null=True)
    row_epoch = models.BigIntegerField(default=0)
    row_holder = models.CharField(max_length=150, null=True)  # noqa: DJ001 - NULL: nobody
    row_quiet_at = MomentField(null=True)
    row_deaths = models.SmallIntegerField(default=0)
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
            models.CheckConstraint(condition=Q(status__in=words(StepStatus)), name="saga_step_status"),
            models.CheckConstraint(
                condition=Q(compensation_status__in=words(CompensationStatus)), name="saga_step_compensation"
            ),
            models.CheckConstraint(
                condition=~Q(status="queued") | Q(row_due_at__isnull=False), name="saga_step_queued_is_claimable"
            ),
        ]
        indexes = [
            models.Index(F("queue"), F("row_due_at"), condition=Q(row_due_at__isnull=False), name="saga_step_row_due"),
            models.Index(
                fields=["name"], condition=Q(kind="approval", status="waiting"), name="saga_step_open_approvals"
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


class WaitingApproval(StepRecord):
    """An approval that waits for somebody's decision: the same table, with a list of its own in the admin."""

    class Meta:
        proxy = True
        default_permissions = ()
        verbose_name = _("approval")
        verbose_name_plural = _("approvals")
