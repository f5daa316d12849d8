"""Batches in the queue: tickets for them, whose workers take them, and a real cluster whose workers are killed."""

from __future__ import annotations

import os
import signal
from collections import Counter

import pytest
from django.core.management import call_command
from django_q.conf import Conf

from saga_app import batches, timeouts
from saga_app.models import Execution, OperatorBatch
from saga_app.queue import board, inline
from saga_app.queue.board import Board
from saga_app.queue.desk import Desk
from saga_app.store import dues, workers
from saga_app.store.pulse import pulse
from saga_app.store.transactions import alias
from tests.queue.clusters import is_alive, until
from tests.queue.test_tickets import start, unpacked, use
from tests.queue.works import sagas
from tests.queue.works.notes import note
from tests.queue.works.notes import notes as noted
from tests.selections import again, begun, once_each, operator, outcomes

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("notes")]


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> Board:
    """The board of this process, as a cluster of two workers has one."""
    monkeypatch.setattr(timeouts, "hard_stop", False)
    monkeypatch.setattr(board._Here, "board", None)
    monkeypatch.setattr(Conf, "POLL", 0)
    return board.opened(2)


def test_one_ticket_for_one_batch(shared: Board) -> None:
    """However many executions it has: one worker carries it out, the others are free for what it lets go on."""
    batch = begun("abandon", count=150)
    desk = Desk(shared)
    (ticket,) = unpacked(desk.tickets())
    use(ticket)
    assert outcomes(batch) == {"accepted": 100, "pending": 50}, "then others get their turn"
    (ticket,) = unpacked(desk.tickets())
    use(ticket)
    assert again(batch).status == "completed" and desk.tickets() == []


def test_a_batch_gets_its_turn_where_executions_are_always_due(shared: Board) -> None:
    """Who wants to stop ten thousand executions cannot wait until all of them have run."""
    executions = start(5)
    batch = batches.freeze("suspend", Execution.objects.all(), actor=operator("suspend"))
    batches.begin(batch, actor=batch.actor)
    use(unpacked(Desk(shared).tickets())[0])
    assert outcomes(batch) == {"accepted": 5}
    assert set(Execution.objects.values_list("status", flat=True)) == {"suspended"}
    assert noted("greet") == [] and len(executions) == 5


def test_a_look_goes_no_further_than_it_has_to(django_assert_num_queries) -> None:
    """Where enough is due already, batches are not looked for."""
    start(2)
    begun(count=1)
    with django_assert_num_queries(1):
        assert dues.at_most(2, alias()) == 2
    with django_assert_num_queries(3):
        assert dues.at_most(9, alias()) == 3
    assert dues.count(alias()) == 3


def test_only_the_default_cluster_carries_batches_out(shared: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = begun(count=2)
    (ticket,) = unpacked(Desk(shared).tickets())
    monkeypatch.setattr(Conf, "CLUSTER_NAME", "slow")
    assert Desk(shared).tickets() == []
    assert dues.count(alias(), queues=("slow",)) == 0 and dues.count(alias(), queues=("",)) == 1
    use(ticket)
    assert outcomes(batch) == {"pending": 2}


def test_where_nobody_carries_it_out_that_is_told() -> None:
    """Promise P6. It is due, and no cluster of the default queue lives: the strip says so."""
    begun(count=2)
    assert workers.unserved(alias()) == [""]
    (due,) = pulse(alias()).unserved
    assert (due.queue, due.count) == ("", 1)
    workers.seen("here", [1], "tests@7")
    assert workers.unserved(alias()) == [] and not pulse(alias()).unserved


def test_in_this_process(capsys: pytest.CaptureFixture[str]) -> None:
    """`manage.py saga drain`, and what tests call, carry out batches and then what these let go on."""
    note("mended")
    for drive in (inline.run_until_idle, lambda: call_command("saga", "drain")):
        OperatorBatch.objects.all().delete()
        execution = stuck(1)[0]
        batch = batches.freeze("resume", Execution.objects.filter(pk=execution.pk), actor=operator("resume", name="a"))
        batches.begin(batch, actor=batch.actor)
        drive()
        assert again(batch).status == "completed"
        assert Execution.objects.get(pk=execution.pk).status == "completed"
        batch.actor.delete()


def stuck(count: int) -> list[Execution]:
    """So many, each of which stopped when the provider was down."""
    made = []
    for _ in range(count):
        execution = sagas.held.start()
        inline.drive(execution)
        made.append(execution)
    return made


@pytest.mark.acceptance
def test_workers_of_a_cluster_are_killed_while_they_carry_it_out(cluster) -> None:
    """Case C25. kill -9 of whoever has the batch, again and again: each execution is resumed once, and completes."""
    executions = stuck(40)
    note("mended")
    anna = operator("resume")
    batch = batches.freeze("resume", Execution.objects.filter(status="stuck"), actor=anna)
    running = cluster(workers=2, saga={"LEASE": 1, "HARD_STOP_GRACE": 0.5})
    batches.begin(batch, actor=anna, rate=20)
    killed: list[int] = []

    def kill_who_has_it() -> bool:
        row, done = again(batch), outcomes(batch)["accepted"]
        if row.lease_holder and len(killed) < 3 and done > 10 * len(killed):  # it does something between two deaths
            pid = int(row.lease_holder.split(":")[-2])
            if pid not in killed and is_alive(pid):
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
        return row.status == "completed"

    until(kill_who_has_it, running.report, 60)
    assert killed, "nobody was killed: the test proves nothing"
    assert outcomes(batch) == {"accepted": 40} and once_each(batch, "resume")
    until(lambda: not Execution.objects.exclude(status="completed").exists(), running.report, 60)
    assert Counter(words[1] for words in noted("paid")) == Counter(str(execution.pk) for execution in executions)
