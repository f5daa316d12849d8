"""What next, of any picture: always an answer, the same one, from the facts alone, and one that leads somewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

from hypothesis import given
from hypothesis import strategies as st

from saga_app.core.changes import advance, change, release
from saga_app.core.decide import MOST_DEATHS, decide
from saga_app.core.decisions import (
    Arrange,
    BeginUnwind,
    Call,
    CallAtomic,
    Change,
    Compensate,
    Decision,
    FailStep,
    Finish,
    Intend,
    Park,
    PassPivot,
    Reconcile,
    Release,
    Stick,
    Suspend,
    Tell,
)
from saga_app.core.saga import Saga
from saga_app.core.snapshot import Snapshot
from saga_app.core.status import (
    OPEN,
    STOPPED,
    TERMINAL,
    CompensationStatus,
    Status,
    StepStatus,
    StuckReason,
    check_move,
)
from tests.pictures import HOUR, NOW, pictures, refused_by_the_table, shapes, thorough

DECIDED_ABOUT = sorted(OPEN - STOPPED)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Saga[Any], Snapshot]:
    """A saga, and a picture of an execution of it that a worker may claim."""
    saga = draw(shapes())
    return saga, draw(pictures(saga, DECIDED_ABOUT))


def quiet(x: Snapshot) -> Snapshot:
    """The same where no worker that lost it can be inside a body any more."""
    return x.but(quiet_at=None)


@thorough
@given(cases())
def test_total_and_deterministic(case: tuple[Saga[Any], Snapshot]) -> None:
    """Design §4. There is one decision for everything that is open, and it is the same one each time."""
    saga, x = case
    decision = decide(saga, x, NOW)
    assert isinstance(decision, get_args(Decision)) and decision == decide(saga, x, NOW)


@thorough
@given(cases())
def test_it_looks_at_facts_only(case: tuple[Saga[Any], Snapshot]) -> None:
    """No decision depends on what a value says, on a row's number, or on what is only shown."""
    saga, x = case
    shown = {"error_text": None, "cause": "other", "resume_count": 7, "cancel_reason": "?", "suspend_reason": "?"}
    hidden = {"id": 99, "arguments_text": "[]", "error_text": None, "idempotency_key": "?", "attempts": ()}
    others = [record.but(output_text=record.output_text and "[2]", **hidden) for record in x.records]
    assert decide(saga, x.but(records=tuple(others), **shown), NOW) == decide(saga, x, NOW)


@thorough
@given(cases())
def test_advancing_comes_to_an_end(case: tuple[Saga[Any], Snapshot]) -> None:
    """A pivot is passed once, an unwind begins once, a step or a compensation fails once; each move is a legal one."""
    saga, x = case
    seen: list[Change] = []
    at = x
    while isinstance(decision := decide(saga, at, NOW), Change):
        seen.append(decision)
        assert len(seen) <= 2 + 2 * len(x.records), seen
        after = change(saga, at, decision, NOW)
        check_move(at.status, after.status)
        at = after
    assert (at, decision) == advance(saga, x, NOW)
    assert len({repr(one) for one in seen}) == len(seen)


@thorough
@given(cases())
def test_what_is_written_is_what_the_table_takes(case: tuple[Saga[Any], Snapshot]) -> None:
    """A release is a legal move to a row that no CHECK refuses: open and due, or stopped and not."""
    saga, x = case
    after, decision = advance(saga, x, NOW)
    if isinstance(decision, Release):
        after = release(after, decision, NOW)
        check_move(x.status, after.status)
        assert not refused_by_the_table(after)
    else:
        assert isinstance(decision, Call)
        assert not refused_by_the_table(after, released=False)


@thorough
@given(cases())
def test_nobody_waits_for_what_is_past(case: tuple[Saga[Any], Snapshot]) -> None:
    """Promise P6. A park has a time that is to come: an execution that is due is never put back as it was."""
    saga, x = case
    _, decision = advance(saga, x, NOW)
    assert not isinstance(decision, Park) or decision.until > NOW


@thorough
@given(cases())
def test_only_what_is_there_is_called(case: tuple[Saga[Any], Snapshot]) -> None:
    """Promise P1. Nothing that is completed is called again, nothing out of turn, or in the wrong direction."""
    saga, x = case
    after, decision = advance(saga, x, NOW)
    match decision:
        case Intend(path) | CallAtomic(path):
            record = after.record(path)
            assert saga.step(path) and not after.unwinding
            assert record is None or record.status in (StepStatus.RUNNING, StepStatus.WAITING)
            before = [one.name for one in saga.steps[: saga.steps.index(saga.step(path))]]
            assert all(after.known(one).status not in (StepStatus.RUNNING, StepStatus.WAITING) for one in before)
        case Reconcile(path):
            assert saga.step(path).reconciler and not after.known(path).reconciled
        case Compensate(path):
            assert after.unwinding and after.pivoted_at is None
            assert after.known(path).compensation_status in (
                CompensationStatus.NONE,
                CompensationStatus.RUNNING,
                CompensationStatus.WAITING,
            )


@thorough
@given(cases())
def test_requests_come_first(case: tuple[Saga[Any], Snapshot]) -> None:
    """Design §8.2. With an accepted cancel nothing begins and no pivot is passed; with a suspend nothing is called."""
    saga, x = case
    x = quiet(x.but(deaths=0))
    decision = decide(saga, x, NOW)
    if x.cancel_requested_at and not x.unwinding:
        assert isinstance(decision, BeginUnwind | Reconcile)
    elif x.suspend_requested_at:
        assert isinstance(decision, Suspend)


@thorough
@given(cases())
def test_past_the_pivot_there_is_no_way_back(case: tuple[Saga[Any], Snapshot]) -> None:
    """Design §9.6. Nothing there begins an unwind, and nothing is compensated."""
    saga, x = case
    if x.pivoted_at:
        after, decision = advance(saga, x, NOW)
        assert not after.unwinding and not isinstance(decision, Compensate | BeginUnwind)


@thorough
@given(cases())
def test_workers_do_not_die_of_it_for_ever(case: tuple[Saga[Any], Snapshot]) -> None:
    """Hazard B55. After three claims that came to nothing it is an operator's, whatever else is true."""
    saga, x = case
    decision = decide(saga, quiet(x), NOW)
    lost = isinstance(decision, Stick) and decision.reason == StuckReason.WORKER_LOST
    assert lost == (x.deaths > MOST_DEATHS)


@thorough
@given(cases())
def test_an_orphan_is_left_in_peace(case: tuple[Saga[Any], Snapshot]) -> None:
    """Design §8.8. While a worker that lost it may be inside a body: the same call again, or nothing at all."""
    saga, x = case
    if x.quiet_at and x.quiet_at > NOW:
        decision = decide(saga, x, NOW)
        if isinstance(decision, Park):
            assert decision.until >= x.quiet_at
        else:
            assert isinstance(decision, Intend | CallAtomic | PassPivot | Finish)
            assert decision == decide(saga, quiet(x), NOW)


@thorough
@given(cases())
def test_time_alone_changes_waiting_only(case: tuple[Saga[Any], Snapshot]) -> None:
    """An hour later the decision is the same, unless it was to wait."""
    saga, x = case
    decision = decide(saga, x, NOW)
    later = decide(saga, x, NOW + HOUR)
    if not isinstance(decision, Park):
        assert later == decision
    else:
        assert not isinstance(later, Park) or later.until > NOW + HOUR


@thorough
@given(cases())
def test_an_end_is_an_end(case: tuple[Saga[Any], Snapshot]) -> None:
    """It completes when every required step has, and fails or is cancelled when all that is owed has its outcome."""
    saga, x = case
    after, decision = advance(saga, x, NOW)
    if isinstance(decision, Finish):
        ended = release(after, decision, NOW)
        assert ended.status in TERMINAL and ended.finished_at == NOW
        if ended.status == Status.COMPLETED:
            for one in saga.steps:
                done = after.known(one.name).status in (StepStatus.COMPLETED, StepStatus.SKIPPED)
                assert done or (not one.required and after.known(one.name).status == StepStatus.FAILED)
        else:
            assert after.unwinding


@thorough
@given(cases())
def test_a_step_fails_unanswered_only_at_its_last_attempt(case: tuple[Saga[Any], Snapshot]) -> None:
    """Design §8.8. While attempts remain it is tried again; without any, nothing is guessed before or past a pivot."""
    saga, x = case
    match decide(saga, x, NOW):
        case FailStep(path):
            record, one = x.known(path), saga.step(path)
            assert record.attempt >= record.attempt_limit
            assert not one.reconciler or record.reconciled
            last_word = x.pivoted_at is not None or saga.before_pivot(path)
            assert not last_word or one.atomic or not one.required


def test_the_kinds_of_decisions_are_apart() -> None:
    """Changes, arrangements, messages, calls, releases: each decision is one of them."""
    kinds = [set(get_args(kind)) for kind in (Change, Arrange, Tell, Call, Release)]
    assert sum(len(kind) for kind in kinds) == len(set.union(*kinds)) == len(get_args(Decision))
    assert replace(Park(NOW), until=NOW + HOUR) == Park(NOW + HOUR)
