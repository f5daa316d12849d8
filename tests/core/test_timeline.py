"""The timeline: work and waits of each record, folded from what the tables keep, whatever they say."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from saga_app.core.outcomes import Direction, How, Outcome, begun, settle
from saga_app.core.snapshot import Record, Snapshot
from saga_app.core.status import CompensationStatus, Status, StepStatus
from saga_app.core.timeline import MOST, Bar, Lane, Row, Why, timeline, windows
from tests.core.test_walk import pictures
from tests.pictures import HOUR, NOW, shapes, thorough
from tests.pictures import pictures as drawn_pictures

BEFORE = NOW - 2 * HOUR


def at(number: float) -> Any:
    return NOW + timedelta(seconds=number)


def picture(record: Record, **facts: Any) -> Snapshot:
    return Snapshot(saga="s", revision=1, **{"status": Status.RUNNING, "started_at": NOW, **facts}, records=[record])  # type: ignore[arg-type]


def step(**facts: Any) -> Record:
    return Record(seq=0, path="a", name="a", **{"started_at": NOW, **facts})


def tried(record: Record, start: float, end: float, how: How = How.RAISED, **more: Any) -> Record:
    """With one more attempt, as the engine itself writes it."""
    direction = more.pop("direction", Direction.FORWARD)
    number = record.attempt + 1 if direction is Direction.FORWARD else record.compensation_attempt + 1
    field = "attempt" if direction is Direction.FORWARD else "compensation_attempt"
    record = record.but(**{field: number}, attempts=begun(record, direction, number, at(start)))
    outcome = Outcome(path="a", direction=direction, how=how, at=at(end), **more)
    return settle(picture(record), outcome).known("a")


def shown(record: Record, lane: Lane = Lane.FORWARD, **facts: Any) -> list[tuple[Any, ...]]:
    """Its bars: why or how, from when to when, in seconds."""
    rows = [row for row in timeline(picture(record, **facts), NOW) if row.record and row.lane is lane]
    return [
        (bar.why or bar.outcome, (bar.start - NOW).total_seconds(), bar.end and (bar.end - NOW).total_seconds())
        for row in rows
        for bar in row.bars
    ]


def test_attempts_work_and_what_is_between_them_waits() -> None:
    record = step(attempt_limit=3)
    record = tried(record, 1, 2, retry=True, delay=4.0)
    assert shown(record) == [(Why.WORKER, 0, 1), ("raised", 1, 2), (Why.BACKOFF, 2, None)]
    record = tried(record, 6, 8, How.RETURNED, output_text="1")
    assert shown(record) == [
        (Why.WORKER, 0, 1), ("raised", 1, 2), (Why.BACKOFF, 2, 6), ("returned", 6, 8),
    ]  # fmt: skip


def test_what_runs_has_no_end() -> None:
    record = step(attempt=1, attempts=begun(step(), Direction.FORWARD, 1, at(3)))
    assert shown(record) == [(Why.WORKER, 0, 3), ("", 3, None)]
    assert shown(step()) == [("", 0, None)]  # an atomic call has no attempt before its end


def test_an_atomic_call_worked_from_its_beginning() -> None:
    """Its record is written with its end, so that is all its attempt can say."""
    assert shown(tried(step(), 5, 5, How.RETURNED, output_text="1")) == [("returned", 0, 5)]
    again = tried(tried(step(attempt_limit=2), 5, 5, retry=True, delay=10.0), 17, 17, How.RETURNED, output_text="1")
    assert shown(again) == [("raised", 0, 5), (Why.BACKOFF, 5, 15), ("returned", 15, 17)]


def test_a_lost_attempt_ends_where_the_next_begins() -> None:
    record = step(attempt_limit=3, attempts=begun(step(), Direction.FORWARD, 1, NOW))
    record = record.but(attempt=2, attempts=begun(record, Direction.FORWARD, 2, at(40)))
    assert shown(record) == [("lost", 0, 40), ("", 40, None)]


def test_time_in_a_queue_is_waiting() -> None:
    queued = step(queue="labels", status=StepStatus.QUEUED, row_due_at=NOW)
    assert shown(queued) == [(Why.QUEUE, 0, None)]
    assert shown(tried(queued, 7, 8, How.RETURNED, output_text="1"))[:1] == [(Why.QUEUE, 0, 7)]


def test_time_until_an_operator_acted_is_waiting() -> None:
    record = tried(tried(step(), 0, 1), 90, 91, How.RETURNED, output_text="1")
    assert shown(record) == [("raised", 0, 1), (Why.OPERATOR, 1, 90), ("returned", 90, 91)]


def test_where_it_is_stuck_it_waits_for_an_operator() -> None:
    stuck = {"status": Status.STUCK, "failing_path": "a"}
    failed = tried(step(), 0, 1)
    assert shown(failed, **stuck) == [("raised", 0, 1), (Why.OPERATOR, 1, None)]
    back = tried(tried(step(), 0, 1, How.RETURNED, output_text="1"), 5, 6, direction=Direction.COMPENSATE)
    assert shown(back, unwinding_at=at(5), **stuck) == [("returned", 0, 1)]
    assert shown(back, Lane.BACK, unwinding_at=at(5), **stuck) == [("raised", 5, 6), (Why.OPERATOR, 6, None)]


def test_gates_sleeps_and_children_only_wait() -> None:
    for kind in ("wait", "approval", "sleep", "child"):
        open_one = step(kind=kind, status=StepStatus.WAITING)
        assert shown(open_one) == [(Why(kind), 0, None)]
        assert shown(open_one.but(status=StepStatus.COMPLETED, finished_at=at(9))) == [(Why(kind), 0, 9)]


def test_the_way_back_is_a_lane_of_its_own() -> None:
    record = tried(step(), 0, 1, How.RETURNED, output_text="1").but(compensation_limit=3)
    record = tried(record, 10, 11, direction=Direction.COMPENSATE, retry=True, delay=5.0)
    assert shown(record, unwinding_at=at(10)) == [("returned", 0, 1)]
    back = [("raised", 10, 11), (Why.BACKOFF, 11, None)]
    assert shown(record, Lane.BACK, unwinding_at=at(10)) == back
    by_hand = record.but(compensation_status=CompensationStatus.RESOLVED, compensation_finished_at=at(60))
    assert shown(by_hand, Lane.BACK, unwinding_at=at(10))[1:] == [(Why.OPERATOR, 11, 60)]


def test_it_begins_with_the_wait_for_a_worker() -> None:
    (row,) = [row for row in timeline(picture(step(), started_at=at(4)), NOW) if row.record is None]
    assert row.bars == (Bar(NOW, at(4), why=Why.WORKER),)
    pending = Snapshot(saga="s", revision=1)
    assert [row.bars[0].end for row in timeline(pending, NOW)] == [None]


def test_what_a_fork_took_over_was_done_elsewhere() -> None:
    taken = step(status=StepStatus.COMPLETED, finished_at=at(1), origin=NOW)
    assert [row for row in timeline(picture(taken, started_at=at(50)), at(50)) if row.record] == []


def test_a_clock_that_went_back_leaves_no_time_less_than_none() -> None:
    record = step(status=StepStatus.SKIPPED, finished_at=at(-5))
    assert shown(record) == [("skipped", 0, 0)]


def lawful(rows: list[Row]) -> None:
    """Bars are in order, only the last of a row goes on, and no row is empty."""
    for row in rows:
        assert row.bars and len(row.bars) <= MOST
        assert all(bar.end is None or bar.start <= bar.end for bar in row.bars)
        assert all(one.end is not None and one.end <= other.start for one, other in pairwise(row.bars))
    lanes = [row.lane for row in rows]
    assert lanes == sorted(lanes, key=lambda lane: lane is Lane.BACK)


@thorough
@given(shapes().flatmap(drawn_pictures))
def test_there_is_a_timeline_of_whatever_the_tables_say(x: Snapshot) -> None:
    lawful(timeline(x, BEFORE))


@settings(max_examples=min(30, settings().max_examples))
@given(st.integers(0, 2**32))
def test_whatever_happened_has_a_lawful_timeline(seed: int) -> None:
    """A record that something became of has a row, and what goes on is what is not over."""
    for _, x in pictures(seed):
        rows = timeline(x, BEFORE)
        lawful(rows)
        goes_on = {row.record.path for row in rows if row.record and row.bars[-1].end is None}
        for record in x.records:
            if record.status in (StepStatus.RUNNING, StepStatus.WAITING, StepStatus.QUEUED) and record.started_at:
                assert record.path in goes_on


@given(st.lists(st.integers(1, 12), max_size=60), st.integers(1, 100))
def test_windows_hold_all_rows_and_few_bars(lengths: list[int], size: int) -> None:
    rows = [Row(Lane.FORWARD, None, tuple([Bar(NOW, NOW)] * length)) for length in lengths]
    found = windows(rows, size)
    assert [row for page in found for row in page] == rows and found
    assert all(sum(len(row.bars) for row in page) <= max(size, MOST) for page in found)
