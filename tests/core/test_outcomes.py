"""How a call ended, and what its record says of it then: nothing that was known is forgotten."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from saga_app import GiveUp, Rejected, RetryLater
from saga_app.core.errors import StepInterrupted, StepTimeout
from saga_app.core.outcomes import KEPT_ATTEMPTS, Direction, How, Outcome, classify, delay_of, settle
from saga_app.core.policy import Policy
from saga_app.core.snapshot import Snapshot
from saga_app.core.status import CompensationStatus, Status, StepStatus
from tests.pictures import outcomes, pictures, shapes, thorough
from tests.strategies import backoffs, dice


@st.composite
def cases(draw: st.DrawFn, direction: Direction | None = None) -> tuple[Snapshot, Outcome]:
    """A picture in which a call is under way, and how that ended."""
    saga = draw(shapes())
    back = direction is Direction.COMPENSATE
    x = draw(pictures(saga, [Status.COMPENSATING if back else Status.RUNNING]).filter(lambda x: bool(x.records)))
    path = draw(st.sampled_from([record.path for record in x.records]))
    running = {"compensation_status": CompensationStatus.RUNNING} if back else {"status": StepStatus.RUNNING}
    return x.with_record(path, **running), draw(outcomes(path, direction))


@thorough
@given(cases())
def test_only_its_own_record_changes(case: tuple[Snapshot, Outcome]) -> None:
    """What one call told says nothing about another, nor about the execution: that is decided elsewhere."""
    x, outcome = case
    after = settle(x, outcome)
    assert after.but(records=()) == x.but(records=())
    changed = [new.path for old, new in zip(x.records, after.records, strict=True) if new != old]
    assert changed in ([outcome.path], [])


@thorough
@given(cases(), st.booleans())
def test_what_may_have_happened_still_may(case: tuple[Snapshot, Outcome], asks: bool) -> None:
    """Design §9.2. Only an author's NotHappened() clears it: a second attempt that was rejected clears no first."""
    x, outcome = case
    before, after = x.known(outcome.path), settle(x, outcome, asks=asks).known(outcome.path)
    if outcome.how is How.NOT_HAPPENED:
        assert not after.may_have_happened
    else:
        assert after.may_have_happened >= before.may_have_happened


@thorough
@given(cases(Direction.FORWARD), st.booleans())
def test_what_an_ending_says_of_the_effect(case: tuple[Snapshot, Outcome], asks: bool) -> None:
    """Design §9.2. It may have happened unless it is known that it did not; only a timeout leaves that open."""
    x, outcome = case
    before, after = x.known(outcome.path), settle(x, outcome, asks=asks).known(outcome.path)
    innocent = outcome.how in (How.REJECTED, How.NOT_CALLED, How.ROLLED_BACK)
    assert after.may_have_happened == (before.may_have_happened or not innocent)
    assert after.outcome_known == (outcome.how is not How.TIMED_OUT)


@thorough
@given(cases(Direction.FORWARD), st.booleans())
def test_it_is_tried_again_while_attempts_remain(case: tuple[Snapshot, Outcome], asks: bool) -> None:
    """Design §8.5. Completed, waiting for its next attempt, failed; or open, where nobody knows and one can ask."""
    x, outcome = case
    before, after = x.known(outcome.path), settle(x, outcome, asks=asks).known(outcome.path)
    again = outcome.retry and before.attempt < before.attempt_limit
    again = again and outcome.how in (How.RAISED, How.TIMED_OUT, How.ROLLED_BACK)
    if outcome.how is How.RETURNED:
        assert (after.status, after.output_text) == (StepStatus.COMPLETED, outcome.output_text)
    elif outcome.how is How.TIMED_OUT and (asks or before.attempt >= before.attempt_limit):
        assert after.status == StepStatus.RUNNING
    else:
        assert after.status == (StepStatus.WAITING if again else StepStatus.FAILED)
        assert (after.due_at is not None) == again
    assert (after.attempt, after.attempt_limit) == (before.attempt, before.attempt_limit)


@thorough
@given(cases(Direction.COMPENSATE))
def test_a_compensation_leaves_the_forward_call_alone(case: tuple[Snapshot, Outcome]) -> None:
    """Promise P9. What became of the compensation and why the step failed are two facts."""
    x, outcome = case
    before, after = x.known(outcome.path), settle(x, outcome).known(outcome.path)
    forward = ("status", "attempt", "output_text", "error_text", "may_have_happened", "outcome_known", "due_at")
    assert all(getattr(before, name) == getattr(after, name) for name in forward)
    if outcome.how is How.RETURNED:
        assert after.compensation_status == CompensationStatus.COMPENSATED and not after.compensation_error_text
    else:
        more = outcome.retry and before.compensation_attempt < before.compensation_limit
        assert after.compensation_status == (CompensationStatus.WAITING if more else CompensationStatus.FAILED)
        assert after.compensation_error_text


@thorough
@given(cases(), st.integers(0, 60))
def test_the_list_of_attempts_is_kept_short_and_closed(case: tuple[Snapshot, Outcome], length: int) -> None:
    """The last entry says how this call ended, none is open, and the list does not grow for ever."""
    x, outcome = case
    entries = ({"direction": "forward", "attempt": 1, "started_at": "?", "outcome": "raised"},) * length
    after = settle(x.with_record(outcome.path, attempts=entries), outcome).known(outcome.path)
    assert len(after.attempts) <= KEPT_ATTEMPTS and all("outcome" in entry for entry in after.attempts)
    last = after.attempts[-1]
    assert (last["outcome"], last["direction"]) == (outcome.how, outcome.direction)


ERRORS: list[type[BaseException]] = [OSError, ConnectionError, ValueError, KeyError, LookupError, SystemExit]
SAID: list[BaseException] = [GiveUp("no"), Rejected("no"), RetryLater(5), StepTimeout(), StepInterrupted()]


@given(
    st.lists(st.sampled_from(ERRORS), max_size=3),
    st.lists(st.sampled_from(ERRORS), max_size=3),
    st.lists(st.sampled_from(ERRORS), max_size=3),
    st.one_of(st.sampled_from(SAID), st.sampled_from(ERRORS).map(lambda kind: kind("x"))),
)
def test_the_order_of_the_lists_is_the_rule(rejected: Any, gives_up: Any, retried: Any, error: BaseException) -> None:
    """Design §3. A timeout is unknown, whatever the lists say; then rejected, give up, retry; else failed for good."""
    policy = Policy(rejected_on=tuple(rejected), give_up_on=tuple(gives_up), retry_on=tuple(retried))
    how, again = classify(policy, error)
    if isinstance(error, StepTimeout | StepInterrupted):
        assert (how, again) == (How.TIMED_OUT, True)
    elif isinstance(error, (Rejected, *rejected)):
        assert (how, again) == (How.REJECTED, False)
    elif isinstance(error, (GiveUp, *gives_up)):
        assert (how, again) == (How.RAISED, False)
    else:
        assert (how, again) == (How.RAISED, isinstance(error, (RetryLater, *retried)))


@given(backoffs(), st.integers(1, 10**6), dice, st.floats())
def test_a_delay_is_a_time_that_can_be_waited(backoff: Any, attempt: int, die: float, asked: float) -> None:
    """Hazard A12. Whatever a body asks for and however often it was tried: never negative, never endless, never NaN."""
    policy = Policy(backoff=backoff)
    for error in (OSError(), RetryLater(asked)):
        assert 0 <= delay_of(policy, error, attempt, die) < 10**9
