"""Every way to misconfigure it is reported with what to write instead, and a right configuration with nothing."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from datetime import timedelta
from typing import Any

import pytest
from django.core.checks.registry import registry as django_checks
from django.core.management import call_command
from django.db import connection, connections
from django.test import override_settings

from saga_app import checks, clock, testing
from saga_app.store import workers
from tests.doors.checking import found, only
from tests.processes import ROOT
from tests.settings import ENGINE

sqlite_only = pytest.mark.skipif(ENGINE != "sqlite", reason="about SQLite")
postgres_only = pytest.mark.skipif(ENGINE != "postgres", reason="about PostgreSQL")


@pytest.fixture
def options(monkeypatch: pytest.MonkeyPatch):
    """Changes entries of DATABASES["default"] for this test."""

    def change(**entries: Any) -> None:
        known = connections["default"].settings_dict
        options = {**known["OPTIONS"], **entries.pop("OPTIONS", {})}
        for name, value in {"OPTIONS": {k: v for k, v in options.items() if v is not ...}, **entries}.items():
            monkeypatch.setitem(known, name, value)

    return change


@pytest.fixture(autouse=True)
def alone():
    """Without the sagas of other tests."""
    with testing.isolate_sagas():
        yield


def test_a_right_configuration_is_reported_with_nothing() -> None:
    assert found() == {}


@pytest.mark.parametrize("settings", ["project.settings", "tests.settings"])
def test_the_sites_of_this_project_are_configured_right(settings: str, tmp_path) -> None:
    """With all their sagas, and as their users run it."""
    variables = {**os.environ, "DJANGO_SETTINGS_MODULE": settings, "SHOP_DATA": str(tmp_path)}
    command = [sys.executable, "manage.py", "check", "--fail-level", "WARNING"]
    ended = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_the_checks_run_with_django_s_own() -> None:
    assert checks.check_all in django_checks.get_checks()
    assert checks.check_tables in django_checks.get_checks(include_deployment_checks=True)


class TestQueue:
    """Q_CLUSTER."""

    @pytest.mark.parametrize(
        ("dotted", "said"),
        [
            (None, "names no broker_class"),
            ("django_q.brokers.orm.ORM", "does not look at the saga tables"),
            ("saga_app.queue.broker.OrmBrokr", "cannot be imported"),
            ("tests.settings.DATABASES", "does not look at the saga tables"),
        ],
    )
    def test_a_broker_that_drives_nothing(self, settings, dotted: str | None, said: str) -> None:
        settings.Q_CLUSTER = {**settings.Q_CLUSTER, "broker_class": dotted}
        message = only("E001")
        assert said in message.msg
        assert '"broker_class": "saga_app.queue.broker.OrmBroker"' in str(message.hint)

    def test_no_cluster_at_all(self, settings) -> None:
        del settings.Q_CLUSTER
        assert "names no broker_class" in only("E001").msg

    def test_the_queue_is_not_installed(self, settings) -> None:
        without = [app for app in settings.INSTALLED_APPS if app != "django_q"]
        with override_settings(INSTALLED_APPS=without):
            assert 'Add "django_q" to INSTALLED_APPS' in str(only("E012").hint)

    @pytest.mark.parametrize("name", ["OrmBroker", "RedisBroker", "SagaBroker"])
    def test_our_brokers(self, settings, name: str) -> None:
        settings.Q_CLUSTER = {**settings.Q_CLUSTER, "broker_class": f"saga_app.queue.broker.{name}"}
        assert found() == {}

    @pytest.mark.parametrize("limit", [3, 0, None, ...])
    def test_a_queue_longer_than_the_workers(self, settings, limit: object) -> None:
        """`...`: left out, which is workers squared."""
        written = {**settings.Q_CLUSTER, "workers": 2, "queue_limit": limit}
        settings.Q_CLUSTER = {name: value for name, value in written.items() if value is not ...}
        assert '"queue_limit": 2' in str(only("W004").hint)

    def test_a_platform_that_cannot_fork(self, monkeypatch) -> None:
        monkeypatch.setattr(multiprocessing, "get_all_start_methods", lambda: ["spawn"])
        assert "cannot fork" in only("E011").msg


class TestDatabases:
    """DATABASES."""

    @sqlite_only
    @pytest.mark.parametrize("mode", [..., None, "DEFERRED"])
    def test_sqlite_transactions_that_do_not_begin_as_writers(self, options, mode: object) -> None:
        options(OPTIONS={"transaction_mode": mode})
        assert 'OPTIONS["transaction_mode"] = "IMMEDIATE"' in str(only("E002").hint)

    @sqlite_only
    @pytest.mark.parametrize("command", [..., "PRAGMA synchronous=NORMAL;", "PRAGMA journal_mode=DELETE"])
    def test_sqlite_without_a_write_ahead_log(self, options, command: object) -> None:
        options(OPTIONS={"init_command": command})
        assert "PRAGMA journal_mode=WAL" in str(only("W001").hint)

    @sqlite_only
    def test_sqlite_in_memory_needs_none(self, options) -> None:
        options(OPTIONS={"init_command": ...}, NAME="file:memorydb_default?mode=memory&cache=shared")
        assert found() == {}

    @sqlite_only
    @pytest.mark.parametrize("seconds", [..., 5, 9.9])
    def test_sqlite_writers_that_give_up_soon(self, options, seconds: object) -> None:
        options(OPTIONS={"timeout": seconds})
        assert 'OPTIONS["timeout"] = 20' in str(only("W002").hint)

    @postgres_only
    @pytest.mark.parametrize(
        "chosen",
        [
            {"isolation_level": 3},
            {"isolation_level": 4},
            {"options": "-c default_transaction_isolation=serializable"},
        ],
    )
    def test_an_isolation_that_the_locks_are_not_made_for(self, options, chosen: dict[str, object]) -> None:
        options(OPTIONS=chosen)
        assert "READ COMMITTED" in only("E003").msg

    @postgres_only
    @pytest.mark.parametrize(
        "chosen",
        [
            {"isolation_level": 2},
            {"isolation_level": None},
            {"options": r"-c default_transaction_isolation=read\ committed"},
        ],
    )
    def test_the_isolation_they_are_made_for(self, options, chosen: dict[str, object]) -> None:
        options(OPTIONS=chosen)
        assert found() == {}

    def test_a_database_that_the_engine_does_not_know(self, monkeypatch) -> None:
        monkeypatch.setattr(connection, "vendor", "oracle")
        assert "PostgreSQL and SQLite" in only("E004").msg

    @pytest.mark.parametrize("alias", ["default", "other"])
    def test_a_pool_that_would_be_forked(self, monkeypatch, alias: str) -> None:
        """On any database: all of them are forked."""
        known = connections[alias].settings_dict
        monkeypatch.setitem(known, "OPTIONS", {**known["OPTIONS"], "pool": True})
        message = only("E005")
        assert alias in message.msg
        assert '"pool"' in str(message.hint)

    def test_a_connection_for_every_look(self, options) -> None:
        options(CONN_MAX_AGE=0)
        assert '"CONN_MAX_AGE": None' in str(only("W003").hint)
        options(CONN_MAX_AGE=60)
        assert found() == {}


class TestSettings:
    """SAGA."""

    def test_a_key_that_means_nothing(self, settings) -> None:
        settings.SAGA = {"LEESE": 30}
        assert "`LEASE`" in str(only("E006").hint)

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("LEASE", "30"),
            ("LEASE", 0),
            ("BUDGET", -1.0),
            ("BUDGET", True),
            ("WEDGED_AFTER", timedelta(seconds=60)),
            ("HARD_STOP_GRACE", float("nan")),
            ("DEFINITION_GRACE", float("inf")),
            ("MAX_VALUE_BYTES", 1.5),
            ("EXIT_WHEN_WEDGED", 1),
            ("ENCRYPTION", 7),
            ("ENCRYPTION", "no.such.module"),
            ("ENCRYPTION", "tests.settings.SECRET_KEY"),
            ("REDACT", "password"),
            ("REDACT", [""]),
            ("REDACT", ["-"]),
            ("REDACT", [7]),
            ("REDACT", None),
        ],
    )
    def test_a_value_that_cannot_be_meant(self, settings, key: str, value: object) -> None:
        settings.SAGA = {key: value}
        message = only("E007")
        assert key in message.msg
        assert repr(value) in message.msg

    def test_a_number_of_bytes_is_whole(self, settings) -> None:
        settings.SAGA = {"MAX_VALUE_BYTES": 1.5}
        assert "a whole number above 0" in str(only("E007").hint)

    def test_something_else_than_a_dict(self, settings) -> None:
        settings.SAGA = ["LEASE"]
        assert "not a dict" in only("E007").msg

    def test_every_key_with_a_good_value(self, settings) -> None:
        settings.SAGA = {
            "LEASE": 10,
            "BUDGET": 5.5,
            "HARD_STOP_GRACE": 1,
            "DEFINITION_GRACE": 60,
            "MAX_VALUE_BYTES": 1000,
            "ENCRYPTION": None,
            "REDACT": ["password", "pin"],
            "WEDGED_AFTER": 30,
            "EXIT_WHEN_WEDGED": True,
        }
        assert found() == {}


@pytest.mark.django_db
class TestTables:
    """What only a database can say."""

    def test_nothing_is_asked_when_nobody_wants_a_database_asked(self, django_assert_num_queries) -> None:
        workers.seen("here", [1], "c@1")
        workers.wedged("here", "c@1", is_so=True)
        with django_assert_num_queries(0):
            assert found() == {}
            assert found(databases=["other"]) == {}

    def test_a_healthy_site(self) -> None:
        workers.seen("here", [1], "c@1")
        assert found(databases=["default"]) == {}

    def test_tables_that_are_not_there(self, monkeypatch) -> None:
        monkeypatch.setattr(connection.introspection, "table_names", list)
        (message,) = found(databases=["default"])["saga_app.W006"]
        assert "migrate --database default" in str(message.hint)
        monkeypatch.setattr(sys, "argv", ["manage.py", "migrate"])
        assert found(databases=["default"]) == {}, "it is about to be cured"

    def test_a_wedged_cluster(self) -> None:
        workers.seen("here", [1, 2], "c@1")
        workers.wedged("here", "c@1", is_so=True)
        (message,) = found(databases=["default"])["saga_app.W007"]
        assert "c@1 on here" in message.msg
        assert "EXIT_WHEN_WEDGED" in str(message.hint)

    def test_a_wedged_cluster_that_is_long_gone(self) -> None:
        class Later:
            def now(self):
                return later

            monotonic = sleep = None

        workers.seen("here", [1], "c@1")
        workers.wedged("here", "c@1", is_so=True)
        later = clock.now() + timedelta(minutes=5)
        with clock.replaced(Later()):
            assert found(databases=["default"]) == {}


def test_manage_py_check_says_the_same(settings, capsys) -> None:
    """As people see it: the id, the sentence, the cure."""
    from django.core.management.base import SystemCheckError

    settings.SAGA = {"LEESE": 30}
    with pytest.raises(SystemCheckError, match=r"saga_app\.E006"):
        call_command("check")
