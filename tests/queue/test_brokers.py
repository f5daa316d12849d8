"""The other two brokers on real clusters: beside a Redis, and with nothing beside them."""

from __future__ import annotations

import time

import pytest
from django_q.conf import Conf
from django_q.models import OrmQ
from django_q.signing import SignedPackage

from saga_app import clock
from saga_app.core.errors import NotReady
from saga_app.queue.broker import OrmBroker, SagaBroker
from tests import redis as redis_server
from tests.queue.clusters import await_end, until
from tests.queue.works import sagas
from tests.queue.works.notes import await_note, notes

pytestmark = pytest.mark.acceptance

REDIS = "saga_app.queue.broker.RedisBroker"


def message(word: str) -> str:
    """What async_task puts into a queue."""
    return SignedPackage.dumps(
        {
            "id": clock.uuid7().hex,
            "name": word,
            "func": "tests.queue.works.tasks.say",
            "args": (word,),
            "kwargs": {},
            "started": clock.now(),
        }
    )


@pytest.mark.redis
def test_beside_a_redis(cluster, redis_url) -> None:
    """Ordinary tasks travel through Redis, executions through the table; neither waits for the other."""
    import redis

    queue = redis.from_url(redis_url)
    running = cluster(workers=2, broker_class=REDIS, redis=redis_url)
    for number in range(6):
        queue.rpush(f"django_q:{Conf.CLUSTER_NAME}:q", message(f"t{number}"))
    executions = [sagas.quick.start(name=f"n{number}") for number in range(6)]
    assert set(await_end(*executions, cluster=running)) == {"completed"}
    await_note("task", 6)
    waits = []
    for number in range(4):
        time.sleep(0.3)
        began = time.monotonic()
        await_end(sagas.quick.start(name=f"late{number}"), cluster=running)
        waits.append(time.monotonic() - began)
    assert sorted(waits)[1] < 0.8, f"an idle BLPOP held up executions: {waits}"
    assert running.stop() < 5


@pytest.mark.redis
def test_a_redis_that_goes_away_does_not_stop_executions(cluster, tmp_path) -> None:
    """And what is put into it when it is back is served: the pusher was not replaced."""
    if not redis_server.PROGRAM:
        pytest.skip("no redis-server on this machine")
    with redis_server.server(tmp_path) as url:
        running = cluster(workers=1, broker_class=REDIS, redis=url)
        await_end(sagas.quick.start(name="before"), cluster=running)
    time.sleep(0.5)
    assert await_end(sagas.quick.start(name="without"), cluster=running) == ["completed"]
    assert len(running.pids("pushing tasks")) == 1
    assert "Ordinary tasks could not be fetched" in running.log


def test_with_nothing_beside_it(cluster) -> None:
    running = cluster(workers=2, broker_class="saga_app.queue.broker.SagaBroker")
    executions = [sagas.quick.start(name=f"n{number}") for number in range(6)]
    assert set(await_end(*executions, cluster=running)) == {"completed"}
    time.sleep(0.5)
    assert await_end(sagas.quick.start(name="late"), cluster=running) == ["completed"]
    assert running.stop() < 5


@pytest.mark.django_db
def test_with_nothing_beside_it_an_ordinary_task_is_refused() -> None:
    """It would never run: better said than found out."""
    broker = SagaBroker()
    with pytest.raises(NotReady, match="OrmBroker"):
        broker.enqueue("anything")
    sagas.quick.start(name="n")
    assert (broker.queue_size(), broker.lock_size(), broker.info(), broker.ping()) == (1, 0, "Sagas", True)


def test_under_load_they_take_turns(cluster) -> None:
    """Hundreds of ordinary tasks wait: an execution does not wait for them. Hundreds of executions: the same."""
    for number in range(300):
        OrmQ.objects.create(key=Conf.CLUSTER_NAME, payload=message(f"t{number}"), lock=clock.now())
    running = cluster(workers=2)
    await_note("task", 5)
    await_end(sagas.quick.start(name="between"), cluster=running)
    assert len(notes("task")) < 300, "the execution was driven last"
    until(lambda: not OrmQ.objects.exists(), running.report, limit=60)
    executions = [sagas.slow.start(seconds=0.05) for _ in range(40)]
    OrmBroker().enqueue(message("last"))
    until(lambda: ["task", "last"] in [words[:2] for words in notes("task")], running.report, limit=60)
    assert set(await_end(*executions, cluster=running, limit=90)) == {"completed"}
