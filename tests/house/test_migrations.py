"""The migrations say what the models say."""

from __future__ import annotations

import io

import pytest
from django.core.management import call_command


@pytest.mark.django_db(databases=["default", "outside", "other"])
def test_no_migration_is_missing() -> None:
    """`makemigrations --check` has nothing to write, for the app and for the apps it leans on."""
    said = io.StringIO()
    try:
        call_command("makemigrations", "saga_app", check=True, dry_run=True, stdout=said, stderr=said)
    except SystemExit:
        pytest.fail(f"models and migrations differ:\n{said.getvalue()}")
