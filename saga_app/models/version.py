"""The table of sagas as they were when an execution of them was started: what can be drawn when the code is gone."""

from __future__ import annotations

import json
from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from saga_app.clock import MomentField


class SagaVersion(models.Model):
    """One shape of one revision of a saga."""

    id = models.BigAutoField(primary_key=True)
    saga = models.CharField(_("saga"), max_length=100)
    revision = models.PositiveIntegerField(_("revision"))
    fingerprint = models.CharField(max_length=64)
    graph_text = models.TextField(db_column="graph")
    seen_at = MomentField(_("first seen"))

    class Meta:
        verbose_name = _("saga")
        verbose_name_plural = _("sagas")
        default_permissions = ()
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["saga", "revision", "fingerprint"], name="saga_version"),
        ]

    def __str__(self) -> str:
        return f"{self.saga} revision {self.revision}"

    @property
    def graph(self) -> Any:
        """Nodes and edges, as core.graph made them."""
        return json.loads(self.graph_text)
