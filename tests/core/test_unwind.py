"""The way back, of any picture: its order, what comes before what, what halts it, and that it comes to an end."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from saga_app.core.arranging import intend_compensation
from saga_app.core.changes import advance, release
from saga_app.core.decisions import Compensate, Finish, Reconcile, Release, Stick
from saga_app.core.ending import begin_unwind
from saga_app.core.outcomes import Direction, How, Outcome, settle
from saga_app.core.saga import Saga
from saga_app.core.snapshot import Record, Snapshot
from saga_app.core.status import (
    OUTCOMES,
    SETTLED,
    CompensationStatus,
    RollbackStatus,
    Status,
    StepStatus,
    StuckReason,
    UnwindCause,
)
from saga_app.core.unwind import Action, Planned, handler_of, owed, plan_unwind
from saga_app.core.verbs import resolve, stopped_at
from tests.pictures import NOW, pictures, shapes, thorough

ANY = [Status.RUNNING, Status.WAITING, Status.COMPENSATING, Status.STUCK, Status.SUSPENDED]


@st.composite
def cases(draw: st.DrawFn, statuses: tuple[Status, ...] = tuple(ANY)) -> tuple[Saga[Any], Snapshot]:
    """A saga, and a picture of an execution of it, or of an older definition that had other steps and handlers."""
    saga, older = draw(shapes()), draw(st.booleans())
    return saga, draw(pictures(draw(shapes()) if older else saga, list(statuses)))


def unsettled(record: Record) -> bool:
    return owed(record) and record.compensation_status not in SETTLED


@thorough
@given(cases())
def test_one_line_for_each_record_the_latest_first(case: tuple[Saga[Any], Snapshot]) -> None:
    """Design §9.3. The plan has every record once, in reverse order of their starts; past the pivot it is empty."""
    saga, x = case
    plan = plan_unwind(saga, x)
    starts = [record.path for record in sorted(x.records, key=lambda record: -record.seq)]
    assert [line.path for line in plan] == ([] if x.pivoted_at else starts)


@thorough
@given(cases())
def test_the_plan_is_the_same_before_and_after_it_begins(case: tuple[Saga[Any], Snapshot]) -> None:
    """Design §9. What is shown before anyone presses the button is what is then done."""
    saga, x = case
    if x.pivoted_at is None and not x.unwinding:
        begun = begin_unwind(saga, x, UnwindCause.FAILURE, NOW)
        assert told(plan_unwind(saga, x)) == told(plan_unwind(saga, begun))


def told(plan: tuple[Planned, ...]) -> list[tuple[str, str, str]]:
    return [(line.path, line.action, line.reason) for line in plan]


@thorough
@given(cases())
def test_the_checks_have_an_order(case: tuple[Saga[Any], Snapshot]) -> None:
    """Design §9.4. Hazard A72. Vanished, settled, failed, not owed, without the result it needs, compensate."""
    saga, x = case
    halted = False
    for line in plan_unwind(saga, x):
        record, handler = line.record, handler_of(saga, line.record)
        expected = alone(saga, record)
        if halted and expected[0] not in (Action.DONE, Action.NOTHING):
            expected = (Action.BLOCKED, "")
        assert line.action == expected[0]
        assert not expected[1] or line.reason == expected[1]
        assert line.action is not Action.COMPENSATE or handler is not None
        halted = halted or line.action is Action.HALT


def alone(saga: Saga[Any], record: Record) -> tuple[Action, str]:
    """What becomes of one record, written down once more as a table: the first line that is true."""
    handler, step = handler_of(saga, record), saga.step(record.path)
    resultless = handler is not None and handler.needs_result and record.output_text is None
    may_ask = step is not None and step.reconciler is not None and not record.reconciled
    table = [
        (unsettled(record) and handler is None, Action.HALT, StuckReason.DEFINITION_CHANGED),
        (record.compensation_status in SETTLED, Action.DONE, record.compensation_status),
        (record.compensation_status == CompensationStatus.FAILED, Action.HALT, ""),
        (not unsettled(record), Action.NOTHING, ""),
        (resultless and may_ask, Action.RECONCILE, ""),
        (resultless, Action.HALT, StuckReason.OUTCOME_UNKNOWN),
        (True, Action.COMPENSATE, ""),
    ]
    return next((action, str(reason)) for holds, action, reason in table if holds)


@thorough
@given(cases())
def test_nothing_runs_behind_a_halt(case: tuple[Saga[Any], Snapshot]) -> None:
    """Design §9.4. Hazard B154. What started before the one that halts keeps no outcome until somebody decides."""
    saga, x = case
    actions = [line.action for line in plan_unwind(saga, x)]
    if Action.HALT in actions:
        behind = actions[actions.index(Action.HALT) + 1 :]
        assert set(behind) <= {Action.BLOCKED, Action.DONE, Action.NOTHING}
    else:
        assert Action.BLOCKED not in actions


@thorough
@given(cases(), st.data())
def test_it_comes_to_an_end(case: tuple[Saga[Any], Snapshot], data: st.DataObject) -> None:
    """Promise P2. Whatever compensations do, and an operator resolves what halts: each owed step gets one outcome.

    In reverse order, and what has one is left alone.
    """
    saga, x = case
    if x.pivoted_at:
        return
    x = x if x.unwinding else begin_unwind(saga, x, UnwindCause.FAILURE, NOW)
    x = x.but(suspend_requested_at=None, quiet_at=None, deaths=0, status=Status.COMPENSATING, stuck_reason="")
    before, calls = x, []
    for _ in range(30 * len(x.records) + 5):
        x, decision = advance(saga, rested(x), NOW)
        if isinstance(decision, Finish):
            break
        x = acted(saga, x, decision, calls, data)
    else:
        raise AssertionError(f"goes on for ever: {calls}")
    assert all(record.compensation_status in SETTLED for record in x.records if owed(record))
    assert all(not record.compensation_status for record in x.records if not owed(record))
    for old in before.records:
        if old.compensation_status in SETTLED:
            assert x.known(old.path).compensation_status == old.compensation_status
            assert old.path not in calls
    places = [before.known(path).seq for path in calls]
    assert places == sorted(places, reverse=True)
    ended = release(x, decision, NOW)
    assert ended.rollback_status in (RollbackStatus.COMPLETED, RollbackStatus.NOT_APPLICABLE)
    assert (ended.rollback_status == RollbackStatus.COMPLETED) == any(owed(record) for record in x.records)


def rested(x: Snapshot) -> Snapshot:
    """What waits is due, and whoever died before has died before."""
    return x.but(records=tuple(record.but(compensation_due_at=None) for record in x.records), deaths=0)


def acted(saga: Saga[Any], x: Snapshot, decision: Any, calls: list[str], data: st.DataObject) -> Snapshot:
    """The call that was decided, ended in some way; or the operator's hand."""
    if isinstance(decision, Stick):
        assert decision.reason in (
            StuckReason.COMPENSATION_FAILED,
            StuckReason.OUTCOME_UNKNOWN,
            StuckReason.DEFINITION_CHANGED,
            StuckReason.UNDECODABLE,
        )
        stuck = release(x, decision, NOW)
        record = stopped_at(stuck)
        assert record is not None and record.path == decision.path
        return resolve(stuck, record, NOW)
    assert isinstance(decision, Compensate | Reconcile) and not isinstance(decision, Release)
    if isinstance(decision, Compensate):
        calls.append(decision.path)
        x = intend_compensation(x, saga.step(decision.path), decision.path, NOW)
        how = data.draw(st.sampled_from([How.RETURNED, How.RAISED, How.TIMED_OUT]))
        direction = Direction.COMPENSATE
    else:
        how = data.draw(st.sampled_from([How.HAPPENED, How.NOT_HAPPENED, How.UNKNOWN]))
        direction = Direction.RECONCILE
    good = how in (How.RETURNED, How.HAPPENED)
    outcome = Outcome(
        path=decision.path, direction=direction, how=how, at=NOW, output_text="1" if good else None, retry=not good
    )
    return settle(x, outcome)


@thorough
@given(cases((Status.COMPENSATING,)))
def test_an_outcome_is_one_of_four(case: tuple[Saga[Any], Snapshot]) -> None:
    """Promise P2. Compensated, failed, abandoned or resolved; only what failed may be tried again, by an operator."""
    saga, x = case
    for line in plan_unwind(saga, x):
        if line.record.compensation_status in OUTCOMES:
            assert line.action in (Action.DONE, Action.HALT, Action.BLOCKED)


@thorough
@given(cases((Status.RUNNING, Status.WAITING, Status.STUCK)))
def test_the_write_that_begins_it_settles_what_is_open(case: tuple[Saga[Any], Snapshot]) -> None:
    """Design §9.1. No forward call is open afterwards; what may have happened still may; an atomic one did not."""
    saga, x = case
    if x.unwinding or x.pivoted_at:
        return
    begun = begin_unwind(saga, x, UnwindCause.CANCEL, NOW)
    assert begun.unwinding and begun.status == Status.COMPENSATING
    for old, new in zip(x.records, begun.records, strict=True):
        assert new.status in (StepStatus.COMPLETED, StepStatus.FAILED, StepStatus.SKIPPED)
        assert new.may_have_happened >= old.may_have_happened
        step = saga.step(old.path)
        if old.status == StepStatus.RUNNING:
            assert new.may_have_happened == (old.may_have_happened or not (step and step.atomic))
        elif old.status != StepStatus.WAITING:
            assert new == old
