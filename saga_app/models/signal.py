"""The table of signals: what came from outside for one execution, kept from the start."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from saga_app import codec
from saga_app.clock import MomentField
from saga_app.models.execution import Execution
from saga_app.models.readonly import refuse_write


class Signal(models.Model):
    """A message to one execution: stored at once, consumed first in first out, once."""

    id = models.BigAutoField(primary_key=True)
    execution = models.ForeignKey(Execution, models.CASCADE, related_name="signals")
    name = models.CharField(_("signal"), max_length=255)
    key = models.CharField(_("key"), max_length=255, null=True)  # noqa: DJ001 - NULL is never equal
    payload_text = models.TextField(db_column="payload")
    verdict = models.CharField(max_length=20, blank=True, default="")
    sender = models.ForeignKey(  # no constraint: a router may keep the users in another database
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, db_constraint=False, related_name="+"
    )
    sender_name = models.CharField(max_length=255, blank=True, default="")
    received_at = MomentField(_("received"))
    consumed_by = models.CharField(max_length=255, blank=True, default="")

    class Meta:
        verbose_name = _("signal")
        verbose_name_plural = _("signals")
        default_permissions = ()
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["execution", "name", "key"], condition=Q(key__isnull=False), name="saga_signal_key"
            ),
        ]
        indexes = [
            models.Index(fields=["execution", "id"], condition=Q(consumed_by=""), name="saga_signal_unread"),
            models.Index(fields=["key"], condition=Q(key__isnull=False), name="saga_signal_by_key"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def payload(self) -> Any:
        """What it brought."""
        return codec.decode(self.payload_text)

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Refuse: only the store writes."""
        refuse_write("a signal", "send it with execution.signal()")

    def delete(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse: a signal is the record of what came."""
        refuse_write("a signal", "it is the record of what came")
