"""What an execution begins with beside its input: a deadline, a queue; and the shape of its saga, kept once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from saga_app import Child, Saga, Wait, clock, step
from saga_app.core.graph import graph_of
from saga_app.models import SagaVersion
from saga_app.queue import inline
from saga_app.store import claims, versions
from saga_app.store.transactions import alias, durable
from tests.store.conftest import now, waiting
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)

SECOND = timedelta(seconds=1)


@pytest.fixture(autouse=True)
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process has kept nothing yet."""
    monkeypatch.setattr(versions, "_kept", set())


def bare(name: str = "bare", **options: Any) -> Saga[Any]:
    """A saga of one step."""
    return Saga(name, step(name="a")(lambda: None), **options)


def test_a_deadline_counts_from_when_it_may_begin() -> None:
    """From now, or from `due`; a saga without a timeout has none."""
    assert bare("none").start().deadline_at is None
    saga, later = bare(timeout=60), clock.now() + timedelta(hours=1)
    x = saga.start()
    assert abs(x.deadline_at - x.created_at - timedelta(seconds=60)) < SECOND
    assert saga.using(due=later).start().deadline_at == later + timedelta(seconds=60)
    past = saga.using(due=clock.now() - timedelta(hours=1)).start()
    assert abs(past.deadline_at - past.created_at - timedelta(seconds=60)) < SECOND


def test_a_queue() -> None:
    """The saga's own, unless the start names another; a rerun keeps it; claims are made by queue."""
    saga = bare(queue="mail")
    mail, slow = saga.start(), saga.using(queue="slow").start()
    assert (mail.queue, slow.queue, bare("other").start().queue) == ("mail", "slow", "")
    with durable(alias()):
        taken = claims.take("host:1:t", alias(), queues=["slow"])
    assert taken is not None and taken[0].execution_id == slow.pk
    x = inline.drive(mail)
    assert x.rerun().queue == "mail"


def test_the_shape_is_kept_once() -> None:
    """With the first start of a process, after its commit; the drawable graph comes back as it was."""
    saga = bare(title="Bare")
    saga.seal()
    with transaction.atomic():
        saga.start()
        assert not SagaVersion.objects.exists()
    (kept,) = SagaVersion.objects.all()
    assert (kept.saga, kept.revision, kept.fingerprint) == ("bare", 1, saga.fingerprint)
    assert kept.graph == graph_of(saga)
    with CaptureQueriesContext(connection) as captured:
        saga.start()
    assert not any("sagaversion" in query["sql"] for query in captured)


def test_a_start_that_is_rolled_back_keeps_nothing() -> None:
    """The next one does."""
    saga = bare()
    with transaction.atomic():
        saga.start()
        transaction.set_rollback(True)
    assert not SagaVersion.objects.exists()
    saga.start()
    assert SagaVersion.objects.count() == 1


def test_shapes_that_are_started_in_two_orders_wait_for_nobody() -> None:
    """Two transactions that start two new sagas, the one first and the other: neither waits for the other's end."""
    one, two = bare("one"), bare("two")

    def both(*sagas: Saga[Any]) -> None:
        with transaction.atomic():
            for saga in sagas:
                saga.start()

    if connection.vendor == "postgresql":
        at_once(lambda: both(one, two), lambda: both(two, one))
    else:
        both(one, two)
    assert sorted(SagaVersion.objects.values_list("saga", flat=True)) == ["one", "two"]


def test_another_process_has_kept_it() -> None:
    """Nothing is written twice."""
    saga = bare()
    saga.start()
    versions._kept.clear()
    saga.start()
    assert SagaVersion.objects.count() == 1


def test_a_childs_shape_is_kept_with_its_birth() -> None:
    """A child may be a revision that nobody else has started."""
    Saga("parent", Child(bare("kid"))).start()
    inline.run_until_idle()
    assert sorted(SagaVersion.objects.values_list("saga", flat=True)) == ["kid", "parent"]


def test_verbs_about_signals_can_be_awaited() -> None:
    """Each has its twin, as a method too."""
    x = waiting(Wait("go"))
    assert async_to_sync(x.asignal)("go", 1).unread == 1
    assert inline.drive(now(x)).status == "completed"
