"""`manage.py saga show` says what an execution waits for, and what to do where nobody comes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from saga_app import Approval, Child, Saga, Sleep, Wait, executor, step, testing
from tests.doors.shell import saga, saga_json

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """Without the sagas of other tests."""
    with testing.isolate_sagas():
        yield
    testing.clock.release()


@step(attempts=1)
def nothing() -> None:
    """Does nothing."""


CASES = {
    "signal": (lambda: Wait("paid", timeout=60), "paid: the signal paid until "),
    "approval": (lambda: Approval("ok", permission="shop.ok"), "ok: a decision of somebody with shop.ok"),
    "sleep": (lambda: Sleep(60), "sleep: asleep until "),
    "child": (lambda: Child(Saga("kid", Wait("go"))), "kid: the child kid "),
}


@pytest.mark.parametrize("kind", CASES)
def test_a_line_for_each(kind: str) -> None:
    """Which gate, until when, and which child."""
    node, said = CASES[kind]
    x = Saga("s", node(), nothing).start()
    testing.drain()
    assert said in saga("show", str(x.pk))
    (waits,) = saga_json("show", str(x.pk))["waits_for"]
    assert waits["kind"] == kind


@pytest.mark.django_db(transaction=True)
def test_a_queue_that_nobody_serves() -> None:
    """The command that would serve it is told."""
    x = Saga("s", step(name="print", queue="labels", attempts=1)(lambda: None)).start()
    executor.drive_next(holder="here:1", queues=("",))
    assert "which no worker serves: start Q_CLUSTER_NAME=labels manage.py qcluster" in saga("show", str(x.pk))
