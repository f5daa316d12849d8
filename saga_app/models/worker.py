"""The table of workers: the processes that drive executions."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from saga_app.clock import MomentField
from saga_app.querysets import WorkerQuerySet


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
