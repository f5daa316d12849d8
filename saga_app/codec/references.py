"""Model instances as references: never a copy, read again at each use."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.core.exceptions import MultipleObjectsReturned, ObjectDoesNotExist, ValidationError
from django.db import connections, router
from django.db.models import Model


class Gone(LookupError):
    """The row that a reference names is not there."""


def label_and_alias(value: Model) -> tuple[str, str]:
    """Which table, and on which database. ValueError with the reason when another process could not find the row.

    The alias is the one that is written to: a replica may not have the row yet, or still have it as it was.
    """
    meta = value._meta  # noqa: SLF001 - the name under which Django documents it
    if value.pk is None or value._state.adding:  # noqa: SLF001 - the same
        raise ValueError(f"this {meta.label} is not saved (or was deleted): save it first")
    try:
        known = apps.get_model(meta.label)
    except LookupError:
        known = None
    if known is not value.__class__:
        raise ValueError(f"{meta.label} is not the model that is installed under this name")
    return meta.label, router.db_for_write(known, instance=value)


def read(label: str, alias: str, pk: Any) -> Any:
    """The row as it is now. LookupError with the reason when the reference leads nowhere, Gone when only the row is."""
    model = apps.get_model(label)
    if alias not in connections.settings:
        raise LookupError(f"the database {alias!r} of {label} {pk} is not configured any more")
    try:
        # Not the default manager, which may hide rows.
        return model._base_manager.using(alias).get(pk=pk)  # noqa: SLF001 - the same
    except ObjectDoesNotExist:
        raise Gone(f"{label} {pk} is gone") from None
    except (MultipleObjectsReturned, ValidationError) as error:
        raise LookupError(f"{label} {pk} cannot be read: {type(error).__name__}") from error
