"""Verbs on sagas of any shape, in states that the engine itself can make: what is allowed can be done, and written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import given

from saga_app import Saga
from saga_app.core import verbs
from saga_app.core.changes import advance
from saga_app.core.decisions import Stick
from saga_app.core.snapshot import Snapshot
from saga_app.core.status import (
    OUTCOMES,
    SETTLED,
    STOPPED,
    TERMINAL,
    UNSETTLED,
    Status,
    StepStatus,
    StuckReason,
    check_move,
)
from saga_app.core.unwind import owed
from tests.core.search import NOW
from tests.core.test_walk import few, pictures, seeds
from tests.pictures import refused_by_the_table

Act = Callable[[Saga[Any], Snapshot], Snapshot]

ACTS: dict[str, Act] = {
    "resume": lambda saga, x: verbs.resume(x, saga, NOW),
    "abandon": lambda saga, x: verbs.abandon(x, saga, NOW),
    "unwind": lambda saga, x: verbs.unwind(x, saga, NOW),
    "cancel": lambda _saga, x: verbs.cancel(x, NOW, "why"),
    "suspend": lambda _saga, x: verbs.suspend(x, NOW, "why"),
}
WITHOUT_CURE = {StuckReason.CHILD_STUCK, StuckReason.DEFINITION_CHANGED}  # the child's own, or a deploy


def acted(seed: int) -> Iterator[tuple[str, Saga[Any], Snapshot, Snapshot]]:
    """Each verb that is allowed, on each picture of one way, with what it makes of it."""
    for saga, x in pictures(seed):
        for name, act in ACTS.items():
            if verbs.eligibility(name, x):
                yield name, saga, x, act(saga, x)


@few
@given(seeds)
def test_what_is_allowed_can_be_written(seed: int) -> None:
    """An allowed verb is a legal move to a row that no CHECK refuses."""
    for _, _, x, after in acted(seed):
        check_move(x.status, after.status)
        assert not refused_by_the_table(after.but(due_at=None if after.status in STOPPED else NOW))


@few
@given(seeds)
def test_no_verb_forgets(seed: int) -> None:
    """Promises P2 and P9. Outcomes, completed steps and the cause of an unwind stay, and numbers only grow."""
    for _, _, x, after in acted(seed):
        assert len(after.records) == len(x.records)
        for old, new in zip(x.records, after.records, strict=True):
            if old.compensation_status in SETTLED:
                assert new.compensation_status == old.compensation_status
            if old.status == StepStatus.COMPLETED:
                assert (new.status, new.output_text, new.choice) == (old.status, old.output_text, old.choice)
            assert new.attempt >= old.attempt and new.attempt_limit >= old.attempt_limit
            assert new.compensation_limit >= old.compensation_limit
            assert old.kind == "child" or new.may_have_happened >= old.may_have_happened
        if x.unwinding:
            assert (after.unwinding_at, after.unwind_cause) == (x.unwinding_at, x.unwind_cause)
            assert after.error_text == x.error_text


@few
@given(seeds)
def test_abandon_decides_everything(seed: int) -> None:
    """Design §12. Each owed step has an outcome, nothing is open or in a queue, and what was decided stays."""
    for name, _, x, after in acted(seed):
        if name != "abandon":
            continue
        assert after.status in TERMINAL
        for old, new in zip(x.records, after.records, strict=True):
            assert new.status not in UNSETTLED and not new.in_queue
            assert x.pivoted_at or not owed(new) or new.compensation_status in OUTCOMES
            if old.compensation_status in OUTCOMES:
                assert new.compensation_status == old.compensation_status


@few
@given(seeds)
def test_resume_tries_again_what_stopped(seed: int) -> None:
    """Design §12. From wherever the rules let it get stuck, a resume leads on: it does not stop there again unasked."""
    for name, saga, x, after in acted(seed):
        if name != "resume" or x.status != Status.STUCK or x.stuck_reason in WITHOUT_CURE:
            continue
        _, decision = advance(saga, after.but(quiet_at=None), NOW)
        assert not isinstance(decision, Stick) or decision.path != x.failing_path, (x.stuck_reason, x.failing_path)
