"""Queued steps, driven in this process: who waits for whom, what is tried again, and what a failure cuts short."""

from __future__ import annotations

from typing import Any

import pytest

from saga_app import Backoff, Context, ForEach, GiveUp, Parallel, Saga, engine, executor, ref, step
from saga_app.models import Execution
from saga_app.queue import inline
from tests import ledger
from tests.engine.drives import DATABASES
from tests.engine.queued_steps import arranged, settled
from tests.harness import CANCELLED, DONE, OK, UNWOUND, do, end, error, fail, now, ok, outcomes, rec, records
from tests.reading import failed_steps
from tests.script import Entry
from tests.shared_clock import clock
from tests.site.models import Question

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]

SOON = Backoff(first=5, factor=1, max=5, jitter=0)


def one() -> int:
    """One worker makes one claim."""
    answers = iter([True])
    return executor.drive_next(holder="host:1", go_on=lambda: next(answers, False))


def act(call: Any) -> Entry:
    """An entry that does something, and returns 1."""
    return Entry(lambda _call: call() or 1)


def test_the_waiting_execution_holds_no_worker() -> None:
    """Its lease is given back as soon as the steps are in the queue; what it waits for can be seen."""
    x = arranged(Saga("s", Parallel(do("a"), do("b")), do("c")))
    row = now(x)
    assert (row.status, row.lease_holder, row.due_at) == ("waiting", None, None)
    assert [(r.path, r.status, r.row_holder) for r in records(x)] == [("a", "queued", None), ("b", "queued", None)]
    assert end(settled(x)) == DONE
    assert ledger.order() == ["a", "b", "c"]


def test_executions_and_steps_take_turns() -> None:
    """Neither a crowd of executions nor a crowd of steps makes the other wait until it is through."""
    crowd = arranged(Saga("s", Parallel(**{name: do(name) for name in "abcdef"})))
    others = [Saga(f"t{number}", do(f"t{number}")).start() for number in range(6)]
    executor.drive_next(holder="host:1")
    order = ledger.order()
    first = [name[0] for name in order[:8]]
    assert first.count("t") in (3, 4, 5), order
    assert [end(x) for x in (crowd, *others)] == [DONE] * 7


def test_each_step_is_called_once_with_arguments_made_before() -> None:
    """The arguments are bound when it is queued, so every worker calls it with the same."""
    a = do("a", ok(3))
    both = Parallel(do("b", takes="a n"), do("c", takes="a").bind(a=ref("input.n")))
    x = arranged(Saga("s", a, both, output=ref("b")), n=7)
    assert rec(x, "b").arguments == {"a": 3, "n": 7}
    assert end(settled(x)) == DONE
    assert (ledger.seen("b"), ledger.seen("c")) == ([{"a": 3, "n": 7}], [{"a": 7}])
    assert (rec(x, "b").attempt, rec(x, "b").output, now(x).output) == (1, 1, 1)


def test_the_context_of_a_queued_step() -> None:
    """Its input, what earlier nodes gave, its place in a loop, and its progress: read when it asks."""
    told: dict[str, Any] = {}

    @step(idempotent=True)
    def first() -> str:
        return "x"

    @step(idempotent=True)
    def second(line: int, ctx: Context) -> int:
        ctx.progress(1, f"line {line}")
        told[ctx.path] = (line, ctx.index, ctx.results["first"], dict(ctx.input), ctx.attempt, ctx.cancel_requested)
        return line

    x = Saga("s", first, ForEach("line", ref("input.lines"), second, concurrency=2)).run(lines=[4, 5])
    assert end(x) == DONE, x.error
    assert told == {f"line[{i}]/second": (4 + i, i, "x", {"lines": [4, 5]}, 1, False) for i in (0, 1)}
    assert rec(x, "line[1]/second").progress_text == "line 5"


def test_a_retry_waits_in_the_queue() -> None:
    """No worker waits for a backoff: the row is claimable when it is over, and counts its attempts."""
    clock.set(clock.now())
    x = arranged(Saga("s", Parallel(do("a", fail(OSError), ok(), attempts=2, backoff=SOON), do("b"))))
    inline.run_until_idle()
    row = rec(x, "a")
    assert (row.status, row.attempt, row.row_holder, row.row_deaths) == ("queued", 1, None, 0)
    assert row.row_due_at > clock.now()
    assert end(x)[0] == "waiting" and now(x).due_at is None
    clock.forward(5)
    assert end(settled(x)) == DONE
    assert [entry["outcome"] for entry in rec(x, "a").attempts] == ["raised", "returned"]
    assert len(ledger.keys("a")) == 1


def test_a_failure_cuts_the_others_short_and_undoes_what_ran() -> None:
    """A row that never began is skipped in the transaction of the failure; nobody can claim it any more."""
    a, b, c = do("a", comp=OK), do("b", fail(GiveUp("no")), comp=OK), do("c", comp=OK)
    x = arranged(Saga("s", Parallel(a, b, c)))
    assert one() == 1 and ledger.order() == ["a"]
    one()  # the execution was woken
    one()
    assert ledger.order() == ["a", "b"]
    assert (rec(x, "b").status, rec(x, "c").status, rec(x, "c").row_due_at) == ("failed", "skipped", None)
    assert end(settled(x)) == UNWOUND
    assert outcomes(x) == {"a": "compensated", "b": "compensated", "c": ""}
    assert ledger.calls("c") == 0


def test_both_causes_are_kept() -> None:
    """Two branches that run at the same time fail: the execution names both."""
    later: list[Any] = []
    a = do("a", act(lambda: later.append(executor.drive_next(holder="host:2", budget=0.001))) >> fail(OSError("first")))
    b = do("b", fail(ValueError("second")))
    x = arranged(Saga("s", Parallel(a, b)))
    settled(x)
    assert sorted(r.path for r in failed_steps(x)) == ["a", "b"]
    text = str(now(x).error.text)
    assert "2 failed" in text and "first" in text and "second" in text


def test_an_optional_failure_cuts_nothing() -> None:
    """`required=False`: what it owes stays owed, its siblings go on."""
    x = Saga("s", Parallel(do("a", fail(GiveUp("no")), required=False), do("b")), do("c")).run()
    assert end(x) == DONE
    assert (rec(x, "a").status, ledger.order()) == ("failed", ["a", "b", "c"])


def test_a_cancel_is_told_to_the_queue() -> None:
    """What never began is skipped; what waits for another attempt has failed, and is undone since it was tried."""
    clock.set(clock.now())
    a = do("a", fail(OSError), attempts=2, backoff=SOON, comp=OK)
    x = arranged(Saga("s", Parallel(a, do("b", comp=OK), do("c", comp=OK))))
    one()
    engine.cancel(x)
    assert end(settled(x)) == CANCELLED
    assert [r.status for r in records(x)] == ["failed", "skipped", "skipped"]
    assert outcomes(x) == {"a": "compensated", "b": "", "c": ""}


def test_a_row_claimed_before_the_execution_has_looked_is_refused() -> None:
    """Design §8.10. Whoever claims it settles it: it is not called, and the execution goes on at once."""
    x = arranged(Saga("s", Parallel(do("a", comp=OK), do("b", comp=OK))))
    engine.cancel(x)
    Execution.objects.filter(pk=x.pk).update(due_at=None)  # as long as nobody has looked
    one()
    assert [r.status for r in records(x)] == ["skipped", "queued"]
    assert now(x).due_at is not None
    assert ledger.order() == []
    assert end(settled(x)) == ("cancelled", "not_applicable", "")


def test_a_pause_leaves_the_rows_where_they_are() -> None:
    """Suspended, nothing of it is claimed; resumed, it goes on with the rows it had."""
    x = arranged(Saga("s", Parallel(do("a"), do("b")), do("c")))
    engine.suspend(x)
    settled(x)
    assert end(x)[0] == "suspended" and ledger.order() == []
    assert [r.status for r in records(x)] == ["queued", "queued"]
    engine.resume(x)
    assert end(settled(x)) == DONE
    assert ledger.order() == ["a", "b", "c"]


def test_a_pause_that_comes_while_one_runs() -> None:
    """Its outcome is recorded; what follows waits for the resume."""
    x = arranged(Saga("s", Parallel(do("a", act(lambda: engine.suspend(x))), do("b")), do("c")))
    settled(x)
    assert end(x)[0] == "suspended" and now(x).due_at is None
    assert [r.status for r in records(x)] == ["completed", "queued"]
    engine.resume(x)
    assert end(settled(x)) == DONE


def test_an_atomic_step_commits_with_its_record() -> None:
    """Its rows, its record and the wake of the execution are one commit; a rollback is a failed attempt."""
    row = act(lambda: Question.objects.create(title="?") and None)
    a = do("a", row >> fail(OSError("no")), row, atomic=True, attempts=2)
    x = Saga("s", Parallel(a, do("b")), do("c")).run()
    assert end(x) == DONE
    assert Question.objects.count() == 1
    assert [entry["outcome"] for entry in rec(x, "a").attempts] == ["rolled_back", "returned"]
    assert rec(x, "a").row_due_at is None


def test_an_atomic_compensation_on_a_queue() -> None:
    """It commits with its outcome."""

    @step(name="a", queue="slow", atomic=True)
    def a() -> None:
        Question.objects.create(title="a")

    @a.compensate(atomic=True)
    def _() -> None:
        Question.objects.all().delete()

    x = Saga("s", a, do("b", fail(GiveUp("no")))).run()
    assert end(x) == UNWOUND
    assert (Question.objects.count(), outcomes(x)) == (0, {"a": "compensated"})


def test_a_compensation_goes_to_the_queue_of_its_step() -> None:
    """It is claimed there, tried again there, and the execution waits without a worker."""
    clock.set(clock.now())
    a = do("a", comp=[fail(OSError("down")), ok(None)], comp_attempts=2, queue="slow", backoff=SOON)
    x = Saga("s", a, do("b", fail(GiveUp("no")))).start()
    executor.drive_next(holder="host:1", queues=[""])
    assert ledger.order() == [], "nobody serves the queue of a"
    executor.drive_next(holder="host:2", queues=["slow"])
    executor.drive_next(holder="host:1", queues=[""])
    assert (end(x)[0], ledger.order()) == ("compensating", ["a", "b"])
    assert (now(x).due_at, rec(x, "a").compensation_status) == (None, "waiting")
    executor.drive_next(holder="host:2", queues=["slow"])
    assert ledger.order() == ["a", "b", "~a"]
    assert rec(x, "a").row_due_at == rec(x, "a").compensation_due_at > clock.now()
    clock.forward(5)
    executor.drive_next(holder="host:2", queues=["slow"])
    executor.drive_next(holder="host:1", queues=[""])
    assert end(x) == UNWOUND
    assert rec(x, "a").compensation_attempt == 2


def test_a_compensation_that_fails_on_its_queue_is_resumed() -> None:
    """It stops the unwind in front of an operator; resume sends it to its queue again."""
    a = do("a", comp=[fail(OSError("down")), ok(None)], queue="slow")
    x = Saga("s", a, do("b", fail(GiveUp("no")))).run()
    assert end(x) == ("stuck", "stuck", "compensation_failed")
    assert rec(x, "a").row_due_at is None
    engine.resume(x)
    assert end(settled(x)) == UNWOUND


def test_a_step_on_a_queue_without_a_group() -> None:
    """`queue=` alone: another worker calls it; what comes after it waits."""
    x = Saga("s", do("a", queue="slow"), do("b")).start()
    executor.drive_next(holder="host:1", queues=[""])
    assert ledger.order() == [] and rec(x, "a").queue == "slow"
    executor.drive_next(holder="host:2", queues=["slow"])
    assert ledger.order() == ["a"]
    executor.drive_next(holder="host:1", queues=[""])
    assert end(x) == DONE


def test_an_execution_on_a_queue_is_driven_there() -> None:
    """`Saga(queue=)` and `using(queue=)`; its queued steps wait there too, unless they name a queue of their own."""
    saga = Saga("s", Parallel(do("a"), do("b", queue="other")), queue="slow")
    x = saga.start()
    executor.drive_next(holder="host:1", queues=[""])
    assert records(x) == []
    executor.drive_next(holder="host:2", queues=["slow"])
    assert [(r.path, r.queue, r.status) for r in records(x)] == [("a", "slow", "completed"), ("b", "other", "queued")]
    executor.drive_next(holder="host:3", queues=["other"])
    executor.drive_next(holder="host:2", queues=["slow"])
    assert end(x) == DONE
    y = saga.using(queue="third").start()
    executor.drive(y.pk, holder="host:1")
    assert rec(y, "a").queue == "third"


def test_a_failed_row_that_is_resumed_goes_back_to_the_queue() -> None:
    """on_failure="hold": the operator gives it more attempts, and some worker calls it."""
    a = do("a", fail(OSError("down")), ok(None))
    x = Saga("s", Parallel(a, do("b")), do("c"), on_failure="hold").run()
    assert end(x) == ("stuck", "", "step_failed")
    assert "down" in error(x, "a")
    engine.resume(x)
    assert end(settled(x)) == DONE
    assert ledger.calls("a") == 2
