"""The shapes of sagas, kept from their first start on: what can be drawn when the code is gone."""

from __future__ import annotations

import json
import logging
from functools import partial
from typing import Any

from django.db import transaction

from saga_app import clock
from saga_app.core.graph import graph_of
from saga_app.core.saga import Saga
from saga_app.models import SagaVersion
from saga_app.store.transactions import DatabaseFault

logger = logging.getLogger("saga_app")

_kept: set[tuple[str, str, int, str]] = set()


def keep(saga: Saga[Any], using: str) -> None:
    """Keep the shape of a saga once for this process, after the transaction that is open now.

    Not in it: whoever starts two sagas for the first time would wait for everybody who does so in the other order.
    """
    known = (using, saga.name, saga.revision, saga.fingerprint)
    if known not in _kept:
        transaction.on_commit(partial(_keep, saga, known, using), using=using, robust=True)


def _keep(saga: Saga[Any], known: tuple[str, str, int, str], using: str) -> None:
    if known in _kept:
        return
    row = SagaVersion(
        saga=saga.name,
        revision=saga.revision,
        fingerprint=saga.fingerprint,
        graph_text=json.dumps(graph_of(saga)),
        seen_at=clock.now(),
    )
    try:
        SagaVersion.objects.using(using).bulk_create([row], ignore_conflicts=True)
    except DatabaseFault:
        logger.warning("The shape of %r could not be kept; the next start tries again.", saga, exc_info=True)
    else:
        _kept.add(known)
