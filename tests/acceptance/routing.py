"""A site that keeps the saga tables in a database of their own, and reads from a replica that lags for ever."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

from django.apps import apps
from django.core.management import call_command
from django.db import connections
from django.test import override_settings

from tests.harness import log

APP = "saga_app"


class Routed:
    """Writes go to one database; reads, for whoever asks where to read, to one that has the tables and never a row."""

    def __init__(self, saga_app: str) -> None:
        self.alias = saga_app

    def db_for_read(self, model: type, **_hints: object) -> str | None:
        return "default" if model._meta.app_label == APP else None

    def db_for_write(self, model: type, **_hints: object) -> str | None:
        return self.alias if model._meta.app_label == APP else None

    def allow_relation(self, *_objects: object, **_hints: object) -> bool:
        return True

    def allow_migrate(self, db: str, app_label: str, **_hints: object) -> bool:
        return app_label == APP if db == self.alias else db == "default"


@contextmanager
def routed(saga_app: str) -> Iterator[None]:
    """The site, with a log of every statement that any process of the test sends."""
    statements = logging.getLogger("django.db.backends")
    level = statements.level
    with override_settings(DATABASE_ROUTERS=[Routed(saga_app)]):
        migrate(saga_app, "zero", fake=True)  # noted as done when the test's databases were made, and not done
        migrate(saga_app)
        statements.setLevel(logging.DEBUG)
        try:
            with override_settings(DEBUG=True):
                connections.close_all()
                yield
        finally:
            statements.setLevel(level)
            migrate(saga_app, "zero")
            migrate(saga_app, fake=True)


def migrate(alias: str, *to: str, fake: bool = False) -> None:
    call_command("migrate", APP, *to, database=alias, fake=fake, verbosity=0)


def saga_tables() -> set[str]:
    return {model._meta.db_table for model in apps.get_app_config(APP).get_models(include_auto_created=True)}


def tables_touched(alias: str) -> set[str]:
    """The tables named in statements to that database."""
    lines = [line for line in log().splitlines() if f"alias={alias}" in line]
    return {table for line in lines for table in re.findall(r'"(\w+)"', line)}
