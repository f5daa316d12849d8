"""Parent and child: one birth, the wake at the end, what a child is told, and what lifts a parent that is stuck."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from saga_app import Backoff, Child, Saga, Wait, clock, engine, executor, step
from saga_app.core.status import Status
from saga_app.models import Event, Execution
from saga_app.queue import inline
from saga_app.store import checkpoint
from saga_app.store.checkpoint import Write
from saga_app.store.children import Ask, Undo
from tests.store.conftest import claimed, failing_commit, now, values

pytestmark = pytest.mark.django_db(transaction=True)


def nothing(name: str) -> Any:
    """A step that does nothing."""
    return step(name=name, attempts=1)(lambda: name)


def undone(name: str, undo: Callable[[], object] = lambda: None) -> Any:
    """A step with a compensation."""
    made = nothing(name)
    made.compensate(attempts=1, backoff=Backoff(first=0, jitter=0))(undo)
    return made


def fails() -> None:
    """A body, or a compensation, that always fails."""
    raise ValueError("no")


def below(x: Execution) -> Execution:
    """Its child."""
    return Execution.objects.get(parent=x)


def driven(saga: Saga[Any], **options: Any) -> Execution:
    """An execution, driven until it waits, with its children."""
    x = saga.using(**options).start()
    inline.run_until_idle()
    return now(x)


def waits() -> Execution:
    """A parent that waits for a child, which waits for a signal."""
    return driven(Saga("parent", Child(Saga("kid", undone("k"), Wait("go")))))


def held(x: Execution) -> tuple[Any, Any]:
    """A claim of an execution that waits for nothing but an event."""
    Execution.objects.filter(pk=x.pk).update(due_at=clock.now())
    return claimed(x)


def kinds(x: Execution) -> list[str]:
    """The history, as the types of its lines."""
    return list(Event.objects.filter(execution=x).order_by("id").values_list("type", flat=True))


# birth


def test_a_birth() -> None:
    """The child has its own saga and input, and the parent's urgency; its queue is the parent's where it names none."""
    kid = Saga("kid", step(name="k")(lambda n: n), timeout=60)
    x = driven(Saga("parent", Wait("go"), Child(kid).bind(n=7).named("little")), priority=-3, queue="mail")
    x.signal("go")
    executor.drive(x.pk, holder="host:1")
    child = below(x)
    assert (child.saga, child.input, child.priority, child.queue) == ("kid", {"n": 7}, -3, "mail")
    assert (child.parent_path, child.parent_attempt) == ("little", 1)
    assert x.steps.get(path="little").child_id == child.pk
    assert abs(child.deadline_at - child.created_at - timedelta(seconds=60)) < timedelta(seconds=1)
    (born,) = Event.objects.filter(execution=child)
    assert (born.type, born.actor_id, born.data) == ("start", None, {"parent": str(x.pk), "path": "little"})
    assert (now(x).status, now(x).due_at) == ("waiting", None)


@pytest.mark.parametrize("landed", [True, False], ids=["landed", "lost"])
@pytest.mark.parametrize("which", range(1, 9))
def test_one_child_whatever_commit_is_in_doubt(which: int, landed: bool) -> None:
    """Design §7.2. Whichever COMMIT loses its answer, there is one child, and its parent hears of its end."""
    x = Saga("parent", nothing("a"), Child(Saga("kid", nothing("k"))), nothing("b")).start()
    with failing_commit(which, landed=landed), suppress(OperationalError):
        inline.run_until_idle()
    inline.run_until_idle()
    assert now(x).status == "completed"
    assert Execution.objects.filter(parent=x).count() == 1 and kinds(below(x)) == ["start", "completed"]


def test_a_child_that_matters_is_read_in_one_statement() -> None:
    """Nothing of a child is read where none is under way; then one SELECT reads them all."""
    kid = Saga("kid", Wait("go"))
    x = driven(Saga("parent", nothing("a"), Child(kid)))
    Execution.objects.filter(pk=x.pk).update(due_at=clock.now())
    with CaptureQueriesContext(connection) as captured:
        executor.drive(x.pk, holder="host:1")
    assert sum('"id" IN (' in query["sql"] for query in captured) == 1


# the end


def test_the_end_of_a_child_wakes_its_parent() -> None:
    """Design §7.4. In the child's own last write: it ends, and its parent is due."""
    x = waits()
    child = below(x)
    child.signal("go")
    before = now(x)
    assert executor.drive(child.pk, holder="host:1")
    assert (now(child).status, now(x).wakes) == ("completed", before.wakes + 1)
    assert now(x).due_at is not None
    assert inline.drive(x).status == "completed"


def test_a_child_does_not_end_in_its_claim(caplog: pytest.LogCaptureFixture) -> None:
    """Design §7.5. The claim has locked the child; the parent comes before it, so the end has its own transaction."""
    x = waits()
    child = below(x)
    child.signal("go")
    with caplog.at_level(logging.WARNING, "saga_app"):
        inline.run_until_idle()
    assert now(x).status == "completed" and not caplog.records
    assert now(child).deaths == 0


def test_a_stuck_child_wakes_its_parent_which_waits() -> None:
    """Design §9.7. Forward, a stuck child leaves the parent waiting; it goes on when the child does."""
    bad = [True]

    def maybe() -> None:
        if bad[0]:
            raise ValueError

    x = driven(Saga("parent", Child(Saga("kid", step(name="k", attempts=1)(maybe), on_failure="hold"))))
    assert (x.status, x.due_at, below(x).status) == ("waiting", None, "stuck")
    assert x.wakes == 1
    bad[0] = False
    below(x).resume()
    assert now(x).wakes == 2
    inline.run_until_idle()
    assert now(x).status == "completed"


# what it is told


def test_a_child_is_asked_to_cancel_itself() -> None:
    """Design §9.8. The request, its reason, its wake and its history are one write with the parent's own."""
    x = waits()
    claim, facts = held(x)
    child = below(x)
    written = checkpoint.checkpoint(claim, Write(facts, facts, facts, message=Ask(child.pk)))
    asked = now(child)
    assert asked.cancel_requested_at is not None and asked.due_at is not None
    assert asked.cancel_reason == "its parent parent goes back"
    assert (asked.epoch, asked.wakes) == (child.epoch + 1, child.wakes + 1)
    event = Event.objects.get(execution=child, type="cancel")
    assert (event.actor_id, event.data) == (None, {"parent": str(x.pk)})
    assert written.facts.kids[child.pk].cancel_requested
    assert now(x).wakes == x.wakes


def test_what_a_child_refuses_it_is_not_told() -> None:
    """A child that has ended keeps its row as it is; the parent sees that it has."""
    x = waits()
    child = below(x)
    child.cancel()
    inline.drive(child)
    claim, facts = claimed(x)
    before = values(child)
    written = checkpoint.checkpoint(claim, Write(facts, facts, facts, message=Ask(child.pk)))
    assert values(child) == before and kinds(child).count("cancel") == 1
    assert written.facts.kids[child.pk].status == Status.CANCELLED


def test_a_completed_child_begins_its_own_unwind() -> None:
    """Design §9.7. Its status goes back from completed; what it returned stays; its epoch grows by one."""
    x = driven(Saga("parent", Child(Saga("kid", undone("k"))), Wait("go")))
    child = below(x)
    assert (child.status, child.owes) == ("completed", True)
    claim, facts = held(x)
    written = checkpoint.checkpoint(claim, Write(facts, facts, facts, message=Undo(child.pk)))
    after = now(child)
    assert (after.status, after.unwind_cause, after.finished_at) == ("compensating", "parent", None)
    assert after.epoch == child.epoch + 1 and after.due_at is not None and after.output_text == child.output_text
    assert written.facts.kids[child.pk].unwinding
    inline.drive(child)
    assert kinds(child) == ["start", "completed", "unwinding", "cancelled"]
    assert now(child).rollback_status == "completed" and now(x).wakes == x.wakes + 1


def test_a_decision_that_is_taken_back_tells_nobody() -> None:
    """Design §8.2. A request came meanwhile: the child is not told."""
    x = waits()
    claim, facts = held(x)
    child = below(x)
    engine.suspend(x)
    before = values(child)
    assert not checkpoint.checkpoint(claim, Write(facts, facts, facts, message=Ask(child.pk))).decided
    assert values(child) == before


# lifted


def stuck_line() -> list[Execution]:
    """Root, middle and lowest, each stuck at what is below it: the lowest cannot be undone."""
    mended.clear()
    low = Saga("low", undone("k", lambda: None if mended else fails()))
    middle = Saga("middle", Child(low), undone("m"))
    root = driven(Saga("root", undone("r"), Child(middle), step(name="z", attempts=1)(fails)))
    line = [root, below(root), below(below(root))]
    assert [(x.status, x.stuck_reason) for x in line] == [
        ("stuck", "child_stuck"), ("stuck", "child_stuck"), ("stuck", "compensation_failed"),
    ]  # fmt: skip
    return line


mended: list[bool] = []


def test_a_child_that_is_stuck_no_more_lifts_all_above_it() -> None:
    """Design §9.7. One verb on the lowest: all three go on in one transaction, and all are undone in the end."""
    line = stuck_line()
    mended.append(True)
    line[2].resume(reason="mended")
    after = [now(x) for x in line]
    assert {(x.status, x.stuck_reason, x.rollback_status) for x in after} == {("compensating", "", "")}
    assert [x.epoch for x in after] == [x.epoch + 1 for x in line] and all(x.due_at for x in after)
    assert [x.steps.get(kind="child").compensation_status for x in after[:2]] == ["running"] * 2
    assert [kinds(x)[-1] for x in after] == ["lifted", "lifted", "resume"]
    inline.run_until_idle()
    assert [(now(x).status, now(x).rollback_status) for x in line] == [
        ("failed", "completed"), ("cancelled", "completed"), ("cancelled", "completed"),
    ]  # fmt: skip


def test_a_child_that_is_abandoned_stops_its_parent_again() -> None:
    """Design §9.7. It is stuck no more: its parent looks, and finds that it cannot be undone; that can be resolved."""
    line = stuck_line()
    line[2].abandon(reason="it stays")
    assert now(line[1]).status == "compensating"
    inline.run_until_idle()
    assert [(now(x).status, now(x).stuck_reason) for x in line[:2]] == [("stuck", "child_stuck")] * 2
    line[1].resolve("low", reason="by hand")
    inline.run_until_idle()
    assert [(now(x).status, now(x).rollback_status) for x in line[:2]] == [
        ("failed", "completed"), ("cancelled", "completed"),
    ]  # fmt: skip


def test_a_parent_that_is_stuck_elsewhere_is_not_lifted() -> None:
    """It keeps the fact and the count, and waits for its own operator."""
    line = stuck_line()
    Execution.objects.filter(pk=line[1].pk).update(failing_path="m", stuck_reason="compensation_failed")
    before = [now(x) for x in line]
    line[2].resume(reason="again")
    assert [now(x).status for x in line] == ["stuck", "stuck", "compensating"]
    assert (now(line[1]).wakes, now(line[1]).due_at) == (before[1].wakes + 1, None)
    assert now(line[0]).wakes == before[0].wakes


@pytest.mark.skipif(connection.vendor == "sqlite", reason="one lock for all")
def test_whom_a_verb_locks() -> None:
    """Design §7.5. From the root downward, one by one."""
    line = stuck_line()
    locked: list[str] = []

    def note(run: Callable[..., Any], sql: str, params: Any, many: Any, context: Any) -> Any:
        if "FOR NO KEY UPDATE" in sql:
            locked.extend(str(one) for one in params)
        return run(sql, params, many, context)

    with connection.execute_wrapper(note):
        line[2].resume(reason="again")
    ids = [str(x.pk) for x in line]
    assert [one for one in locked if one in ids] == ids
