"""The way back of sagas of any shape, in states that the engine itself can make: order, halts, milestones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import given

from saga_app import Saga
from saga_app.core.ending import begin_unwind
from saga_app.core.snapshot import Snapshot
from saga_app.core.status import SETTLED, TERMINAL, UNSETTLED, UnwindCause
from saga_app.core.tree import independent
from saga_app.core.unwind import QUIET, Action, owed, plan_unwind, rest
from tests.core.search import NOW
from tests.core.test_walk import few, pictures, seeds


def undoable(seed: int) -> Iterator[tuple[Saga[Any], Snapshot]]:
    """What may still go back, or does."""
    return ((saga, x) for saga, x in pictures(seed) if x.pivoted_at is None and x.status not in TERMINAL)


@few
@given(seeds)
def test_one_line_for_each_record_the_latest_first(seed: int) -> None:
    """Design §9.3. The plan has every record once, in reverse order of their starts; past the pivot it is empty."""
    for saga, x in pictures(seed):
        starts = [one.path for one in sorted(x.records, key=lambda one: -one.seq)]
        assert [line.path for line in plan_unwind(saga, x)] == ([] if x.pivoted_at else starts)


@few
@given(seeds)
def test_the_plan_is_the_same_before_and_after_it_begins(seed: int) -> None:
    """Design §9. What is shown before anyone presses the button is what is then done."""
    for saga, x in undoable(seed):
        if not x.unwinding:
            begun = begin_unwind(saga, x, UnwindCause.FAILURE, NOW)
            shown, done = plan_unwind(saga, x), plan_unwind(saga, begun)
            assert [(line.path, line.action) for line in shown] == [(line.path, line.action) for line in done]


@few
@given(seeds)
def test_a_halt_blocks_what_it_holds_back_and_nothing_else(seed: int) -> None:
    """Design §9.3. What began before it waits, unless it stands in another branch of one group."""
    for saga, x in undoable(seed):
        halts: list[str] = []
        for line in plan_unwind(saga, x):
            held = any(not independent(saga, one, line.path) for one in halts)
            assert (line.action is Action.BLOCKED) == (held and line.action not in QUIET)
            if line.action is Action.HALT:
                halts.append(line.path)


@few
@given(seeds)
def test_what_began_before_a_milestone_stays(seed: int) -> None:
    """Nothing before the point at which the unwind rests is undone."""
    for saga, x in undoable(seed):
        stop = rest(x.records)
        for line in plan_unwind(saga, x):
            if stop is not None and line.record.seq < stop.seq and independent(saga, stop.path, line.path) is False:
                assert line.action in QUIET


@few
@given(seeds)
def test_the_write_that_begins_it_settles_what_is_open(seed: int) -> None:
    """Design §9.1. No forward call is open afterwards, what may have happened still may, what is owed still is."""
    for saga, x in undoable(seed):
        if x.unwinding:
            continue
        begun = begin_unwind(saga, x, UnwindCause.CANCEL, NOW)
        for old, new in zip(x.records, begun.records, strict=True):
            assert new.status not in UNSETTLED and not (new.status == old.status and new.in_queue)
            assert new.may_have_happened >= old.may_have_happened
            assert owed(new) >= (owed(old) and old.compensation_status not in SETTLED)
