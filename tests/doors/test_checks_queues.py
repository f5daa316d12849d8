"""Named queues that no cluster could serve, or that nobody serves now, are reported with what to run or to write."""

from __future__ import annotations

from datetime import timedelta

import pytest

from saga_app import Saga, clock, conf, executor, step, testing
from saga_app.store import workers
from saga_app.store.transactions import alias
from tests.doors.checking import found, only


@pytest.fixture(autouse=True)
def alone():
    """Without the sagas of other tests."""
    with testing.isolate_sagas():
        yield


def on(queue: str, **options: object) -> Saga:
    """A saga with a step on that queue."""
    return Saga("s", step(name="a", idempotent=True, queue=queue)(lambda: None), **options)


@pytest.mark.parametrize("where", ["step", "saga"])
def test_a_queue_that_no_cluster_has(settings, where: str) -> None:
    if where == "step":
        on("slow")
    else:
        Saga("s", step(name="a", idempotent=True)(lambda: None), queue="slow")
    message = only("W009")
    assert where in message.msg and "'slow'" in message.msg
    assert '"ALT_CLUSTERS": {"slow": {' in message.hint and "Q_CLUSTER_NAME=slow manage.py qcluster" in message.hint
    settings.Q_CLUSTER = {**settings.Q_CLUSTER, "ALT_CLUSTERS": {"slow": {}}}
    assert found() == {}


@pytest.mark.parametrize("name", ["name", "cluster_name"])
def test_the_name_of_the_default_cluster(settings, name: str) -> None:
    settings.Q_CLUSTER = {**settings.Q_CLUSTER, name: "ours"}
    on("ours")
    assert only("W009").hint == "Leave queue= out."


def test_a_cluster_that_drives_nothing(settings) -> None:
    other = {"slow": {"broker_class": "django_q.brokers.orm.ORM"}}
    settings.Q_CLUSTER = {**settings.Q_CLUSTER, "ALT_CLUSTERS": other}
    assert found() == {}, "it may be one for ordinary tasks"
    on("slow")
    assert "Take broker_class out of ALT_CLUSTERS['slow']" in only("W010").hint


@pytest.mark.django_db(transaction=True)
def test_a_queue_that_nobody_serves_now() -> None:
    """Something waits there, and no worker was seen for a minute. What is not due yet needs none."""
    x = on("labels").start()
    executor.drive(x.pk, holder="host:1")
    assert workers.unserved(alias()) == ["labels"]
    message = found(databases=["default"])["saga_app.W011"][0]
    assert message.hint == "Run `Q_CLUSTER_NAME=labels manage.py qcluster`."
    workers.seen("here", [1], "labels@7")
    assert workers.unserved(alias()) == [] and workers.served(alias()) == {"labels"}
    assert found(databases=["default"]) == {}
    with clock.replaced(Later()):
        assert workers.unserved(alias()) == ["labels"]


class Later:
    """Two minutes from now."""

    def now(self):
        from datetime import UTC, datetime

        return datetime.now(UTC) + timedelta(minutes=2)

    def monotonic(self) -> float:
        return 0.0

    def sleep(self, seconds: float) -> None:
        raise AssertionError("nobody sleeps here")


@pytest.mark.django_db(transaction=True)
def test_the_ordinary_queue_is_no_named_one() -> None:
    """Before the first cluster is started there is nobody, and nothing to say about it here."""
    Saga("s", step(name="a", idempotent=True)(lambda: None)).start()
    assert workers.unserved(alias()) == [""]
    assert found(databases=["default"]) == {}


def test_which_queue_a_cluster_serves(settings) -> None:
    """That of its name; the default one, whatever it is called, serves what names no queue."""
    settings.Q_CLUSTER = {"name": "site", "cluster_name": "main"}
    assert [conf.queue_of(name) for name in ("main", "site", "slow")] == ["", "", "slow"]
    settings.Q_CLUSTER = {}
    assert [conf.queue_of(name) for name in ("default", "slow")] == ["", "slow"]
