"""The table of events: the append-only history of executions."""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from saga_app.clock import MomentField
from saga_app.models.execution import Execution
from saga_app.models.readonly import refuse_write
from saga_app.querysets import EventQuerySet


class Event(models.Model):
    """One line of an execution's history: what happened to it, and every verb with who, when and why."""

    execution = models.ForeignKey(Execution, models.CASCADE, related_name="events")
    at = MomentField()
    type = models.CharField(max_length=40)
    actor = models.ForeignKey(  # no constraint: a router may keep the users in another database
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, db_constraint=False, related_name="+"
    )
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
        indexes = [models.Index(fields=["-id"], condition=Q(request_id__isnull=False), name="saga_event_verbs")]

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
