"""Which verb may be used on which picture, and what it makes of it: what is allowed can be done, and written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from saga_app import messages
from saga_app.core import verbs
from saga_app.core.changes import advance, release
from saga_app.core.decisions import BeginUnwind, Call, Finish, Park, Stick, Suspend
from saga_app.core.saga import Saga
from saga_app.core.snapshot import Record, Snapshot
from saga_app.core.status import (
    OUTCOMES,
    SETTLED,
    STOPPED,
    TERMINAL,
    RollbackStatus,
    Status,
    StepStatus,
    StuckReason,
    check_move,
)
from saga_app.core.unwind import owed
from tests.pictures import NOW, pictures, refused_by_the_table, shapes, thorough

Act = Callable[[Saga[Any], Snapshot], Snapshot]

ACTS: dict[str, Act] = {
    "resume": lambda saga, x: verbs.resume(x, saga, NOW),
    "abandon": lambda saga, x: verbs.abandon(x, saga, NOW),
    "unwind": lambda saga, x: verbs.unwind(x, saga, NOW),
    "cancel": lambda _saga, x: verbs.cancel(x, NOW, "why"),
    "suspend": lambda _saga, x: verbs.suspend(x, NOW, "why"),
    "resolve": lambda _saga, x: verbs.resolve(x, stopped(x), NOW),
    "skip": lambda saga, x: verbs.skip(x, saga, stopped(x), NOW, happened=False, output_text=None),
    "skip, it happened": lambda saga, x: verbs.skip(x, saga, stopped(x), NOW, happened=True, output_text="2"),
}
WITHOUT_CURE = {StuckReason.DEFINITION_CHANGED, StuckReason.DEFINITION_MISSING, StuckReason.UNDECODABLE}


def stopped(x: Snapshot) -> Record:
    """What it stopped at: eligibility has said that there is something."""
    record = verbs.stopped_at(x)
    assert record is not None
    return record


def verb_of(act: str) -> str:
    return act.partition(",")[0]


@st.composite
def cases(draw: st.DrawFn, *statuses: Status) -> tuple[Saga[Any], Snapshot]:
    """A saga, and a picture of an execution of it."""
    saga = draw(shapes())
    return saga, draw(pictures(saga, list(statuses) or None))


@st.composite
def acted(draw: st.DrawFn) -> tuple[str, Saga[Any], Snapshot, Snapshot]:
    """A verb that is allowed, and the pictures before and after it."""
    saga, x = draw(cases(Status.STUCK, Status.STUCK, Status.SUSPENDED, Status.WAITING, Status.COMPENSATING))
    allowed = [act for act in ACTS if verbs.eligibility(verb_of(act), x)]
    act = draw(st.sampled_from(allowed or ["none"]))
    return (act, saga, x, ACTS[act](saga, x)) if allowed else (act, saga, x, x)


def unheld(x: Snapshot) -> Snapshot:
    """As the store writes it where nobody drives it: what is stopped is not due, everything else is, at once."""
    return x.but(due_at=None if x.status in STOPPED else NOW)


@thorough
@given(cases(), st.sampled_from(verbs.VERBS), st.booleans())
def test_every_verb_has_an_answer(case: tuple[Saga[Any], Snapshot], verb: str, held: bool) -> None:
    """Design §12. Allowed, or refused with a code that has a sentence."""
    _, x = case
    answer = verbs.eligibility(verb, x, held=held)
    if isinstance(answer, verbs.Refused):
        assert not answer and answer.code in messages.REFUSAL
        said = messages.sentence(answer.code, answer.params)
        assert len(said) > 10 and "?" not in said
    else:
        assert answer == verbs.Allowed() and answer


@thorough
@given(cases(*TERMINAL), st.sampled_from(verbs.VERBS))
def test_what_has_ended_is_left_alone(case: tuple[Saga[Any], Snapshot], verb: str) -> None:
    """Promise P8. Of what has ended only a rerun is to be had, and that is another execution."""
    _, x = case
    answer = verbs.eligibility(verb, x)
    assert answer if verb == "rerun" else answer == verbs.Refused("terminal", {"status": str(x.status)})


@thorough
@given(acted())
def test_what_is_allowed_can_be_written(case: tuple[str, Saga[Any], Snapshot, Snapshot]) -> None:
    """An allowed verb is a legal move to a row that no CHECK refuses."""
    _, _, x, after = case
    check_move(x.status, after.status)
    assert not refused_by_the_table(unheld(after))


@thorough
@given(acted())
def test_no_verb_forgets(case: tuple[str, Saga[Any], Snapshot, Snapshot]) -> None:
    """Promises P2 and P9. Outcomes, completed steps and the cause of an unwind stay, and numbers only grow."""
    act, _, x, after = case
    assert len(after.records) == len(x.records) and after.resume_count >= x.resume_count
    for old, new in zip(x.records, after.records, strict=True):
        if old.compensation_status in SETTLED:
            assert new.compensation_status == old.compensation_status
        if old.status == StepStatus.COMPLETED:
            assert (new.status, new.output_text) == (old.status, old.output_text)
        assert new.attempt >= old.attempt and new.attempt_limit >= old.attempt_limit
        assert new.compensation_attempt >= old.compensation_attempt
        assert new.compensation_limit >= old.compensation_limit
        assert act == "skip" or new.may_have_happened >= old.may_have_happened
    if x.unwinding:
        assert (after.unwinding_at, after.unwind_cause) == (x.unwinding_at, x.unwind_cause)
        assert after.error_text == x.error_text
    if x.cancel_requested_at:
        assert after.cancel_requested_at == x.cancel_requested_at


@thorough
@given(acted())
def test_what_goes_on_is_open_and_starts_anew(case: tuple[str, Saga[Any], Snapshot, Snapshot]) -> None:
    """Promise P6. After it nothing is stuck, and no death of before is held against it."""
    act, _, x, after = case
    if act in ("resume", "unwind", "resolve", "skip", "skip, it happened"):
        assert after.status in (Status.RUNNING, Status.COMPENSATING)
        assert (after.status == Status.COMPENSATING) == after.unwinding
        assert (after.stuck_reason, after.suspend_requested_at, after.deaths) == ("", None, 0)
    elif act == "abandon":
        assert after.status in (Status.FAILED, Status.CANCELLED)
    elif act != "none":
        assert after.status == (Status.RUNNING if x.status in STOPPED and not x.unwinding else after.status)


@thorough
@given(cases(Status.STUCK))
def test_abandon_decides_everything(case: tuple[Saga[Any], Snapshot]) -> None:
    """Design §12. Each owed step has an outcome, `failed` stays failed; past the pivot no rollback is spoken of."""
    saga, x = case
    after = verbs.abandon(x, saga, NOW)
    assert after.status in TERMINAL and after.finished_at == NOW
    wanted = RollbackStatus.NOT_APPLICABLE if x.pivoted_at else RollbackStatus.ABANDONED
    assert after.rollback_status == wanted
    for old, new in zip(x.records, after.records, strict=True):
        if not x.pivoted_at and owed(new):
            assert new.compensation_status in OUTCOMES
        if old.compensation_status in OUTCOMES:
            assert new.compensation_status == old.compensation_status
        assert new.status in (StepStatus.COMPLETED, StepStatus.FAILED, StepStatus.SKIPPED)
    cancelled = x.cancel_requested_at is not None if not x.unwinding else x.unwind_cause in ("cancel", "parent")
    assert after.status == (Status.CANCELLED if cancelled else Status.FAILED)


@thorough
@given(cases(Status.RUNNING, Status.WAITING, Status.COMPENSATING))
def test_resume_tries_again_what_stopped(case: tuple[Saga[Any], Snapshot]) -> None:
    """Design §12. From where the rules let it get stuck, a resume leads to a call: it does not stop again unasked."""
    saga, x = case
    x = x.but(suspend_requested_at=None, quiet_at=None, fingerprint=saga.fingerprint)
    after, decision = advance(saga, x, NOW)
    if not isinstance(decision, Stick) or decision.reason in WITHOUT_CURE:
        return
    if after.unwinding and decision.path and unanswerable(saga, after.known(decision.path)):
        return  # it is resolved by hand, or a reconcile is deployed
    stuck = release(after, decision, NOW)
    again = verbs.resume(stuck, saga, NOW)
    _, next_one = advance(saga, again, NOW)
    waits = any(record.due_at or record.compensation_due_at for record in again.records)
    if decision.reason == StuckReason.WORKER_LOST:
        assert not isinstance(next_one, Stick) or next_one.reason != StuckReason.WORKER_LOST
    else:
        assert isinstance(next_one, Call | BeginUnwind) or (isinstance(next_one, Park) and waits)
        assert next_one.path == decision.path


def unanswerable(saga: Saga[Any], record: Record) -> bool:
    """Its compensation needs a result that nobody has, and nobody can be asked for it."""
    step = saga.step(record.path)
    if step is None or step.compensation is None:
        return False
    return step.compensation.needs_result and record.output_text is None and step.reconciler is None


@thorough
@given(cases(Status.STUCK, Status.SUSPENDED))
def test_cancel_lifts_the_stop(case: tuple[Saga[Any], Snapshot]) -> None:
    """Design §9.8. Hazard B196. Accepted where it is stopped, the next thing that happens is the unwind."""
    saga, x = case
    if not verbs.eligibility("cancel", x):
        assert x.pivoted_at or x.unwinding or x.cancel_requested_at
        return
    after = verbs.cancel(x, NOW, "why").but(quiet_at=None)
    assert after.status == Status.RUNNING and after.cancel_requested_at == NOW
    gone, decision = advance(saga, after, NOW)
    assert gone.unwinding or not isinstance(decision, Finish | Park | Suspend)


def test_words_and_rules_are_the_same() -> None:
    """Each verb has a rule, an act here, and a word; those that need a reason or a version are among them."""
    assert set(verbs.VERBS) == {verb_of(act) for act in ACTS} | {"rerun"}
    assert set(verbs.VERBS) | {"move", "fork"} == set(verbs._RULES)
    assert verbs.REASON_REQUIRED | verbs.GUARDED <= set(verbs._RULES) <= set(messages.VERB)
