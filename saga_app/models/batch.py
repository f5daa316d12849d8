"""The tables of batches: one verb for many executions, the selection frozen, and what became of each."""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from saga_app import clock
from saga_app.clock import MomentField
from saga_app.core.batching import BatchStatus, ItemStatus
from saga_app.models.execution import Execution
from saga_app.models.readonly import refuse_write
from saga_app.models.words import words


class OperatorBatch(models.Model):
    """One verb, used on many executions by somebody, and how far it is."""

    id = models.UUIDField(primary_key=True, default=clock.uuid7, editable=False)
    verb = models.CharField(_("verb"), max_length=20)
    status = models.CharField(_("status"), max_length=20, choices=[(s.value, s.value) for s in BatchStatus])
    actor = models.ForeignKey(  # no constraint: a router may keep the users in another database
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, db_constraint=False, related_name="+"
    )
    actor_name = models.CharField(_("by"), max_length=255, blank=True, default="")
    reason = models.TextField(_("reason"), blank=True, default="")
    chosen = models.CharField(_("selection"), max_length=255, blank=True, default="")
    halted_because = models.CharField(max_length=30, blank=True, default="")
    size = models.IntegerField(_("executions"))
    canary = models.IntegerField(default=0)
    rate = models.FloatField(null=True)
    due_at = MomentField(null=True)
    epoch = models.BigIntegerField(default=0)
    lease_holder = models.CharField(max_length=150, null=True)  # noqa: DJ001 - NULL: nobody
    deaths = models.SmallIntegerField(default=0)
    history_text = models.TextField(db_column="history", default="[]")
    version = models.BigIntegerField(default=0)
    created_at = MomentField(_("created"))
    started_at = MomentField(_("started"), null=True)
    finished_at = MomentField(_("finished"), null=True)

    class Meta:
        verbose_name = _("batch")
        verbose_name_plural = _("batches")
        default_permissions = ()
        constraints = [
            models.CheckConstraint(condition=Q(status__in=words(BatchStatus)), name="saga_batch_status"),
            models.CheckConstraint(
                condition=Q(status="running", due_at__isnull=False)
                | ~Q(status="running") & Q(due_at__isnull=True, lease_holder__isnull=True),
                name="saga_batch_running_is_due",
            ),
        ]
        indexes = [
            models.Index(fields=["due_at"], condition=Q(due_at__isnull=False), name="saga_batch_due"),
            models.Index(fields=["-created_at", "-id"], name="saga_batch_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.verb} {self.id}"

    @property
    def history(self) -> list[dict[str, Any]]:
        """Who began, paused, went on or cancelled it, oldest first: `at`, `what`, `by`, `why`."""
        return json.loads(self.history_text)  # type: ignore[no-any-return]

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Refuse: only the store writes."""
        refuse_write("a batch", "begin, pause, resume or cancel it")

    def delete(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse: a batch is the record of what was done."""
        refuse_write("a batch", "it is the record of what was done")


class OperatorBatchItem(models.Model):
    """One execution of a batch: as it was seen, and what became of the verb."""

    id = models.BigAutoField(primary_key=True)
    batch = models.ForeignKey(OperatorBatch, models.CASCADE, related_name="items", db_index=False)
    execution = models.ForeignKey(Execution, models.CASCADE, related_name="+")
    seen_version = models.BigIntegerField()
    status = models.CharField(max_length=20, default=ItemStatus.PENDING)
    code = models.CharField(max_length=40, blank=True, default="")
    params_text = models.TextField(db_column="params", default="{}")
    at = MomentField(null=True)

    class Meta:
        verbose_name = _("batch item")
        verbose_name_plural = _("batch items")
        default_permissions = ()
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["batch", "execution"], name="saga_batch_item"),
            models.CheckConstraint(condition=Q(status__in=words(ItemStatus)), name="saga_batch_item_status"),
        ]
        indexes = [
            models.Index(fields=["batch", "status", "id"], name="saga_batch_item_next"),
            models.Index(fields=["batch", "id"], name="saga_batch_item_page"),
        ]

    def __str__(self) -> str:
        return str(self.execution_id)

    @property
    def params(self) -> dict[str, Any]:
        """What the sentence of a refusal is made of."""
        return json.loads(self.params_text)  # type: ignore[no-any-return]

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Refuse: only the store writes."""
        refuse_write("an item of a batch", "the batch writes what became of it")

    def delete(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse: an item is the record of what was done."""
        refuse_write("an item of a batch", "it is the record of what was done")
