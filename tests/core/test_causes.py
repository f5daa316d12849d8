"""The cause that groups what is stuck: whoever is stuck has one, and what is cured alike has the same."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import product

import pytest

from saga_app.core.ending import NOTHING_RAISED, begin_unwind, expire, finish, stick
from saga_app.core.failures import describe
from saga_app.core.snapshot import Record, Snapshot
from saga_app.core.status import CompensationStatus, Status, StepStatus, StuckReason, UnwindCause

NOW = datetime(2030, 1, 1, tzinfo=UTC)
REASONS = [reason for reason in StuckReason if reason]


def stopped(
    reason: StuckReason, path: str = "pay", error: Exception | None = None, back: bool = False, before: str = ""
) -> str:
    """The cause of an execution that stops there: going forward, or back."""
    said = describe(error).to_json() if error else None
    status = {"status": StepStatus.COMPLETED if back else StepStatus.FAILED}
    told = {"compensation_error_text": said, "compensation_status": CompensationStatus.FAILED} if back else {}
    record = Record(seq=0, path=path, name="pay", **status, **(told or {"error_text": said}))
    x = Snapshot(
        saga="s", revision=1, records=[record] if path else (), unwinding_at=NOW if back else None, cause=before
    )
    after = stick(x, reason, path)
    assert (after.status, after.stuck_reason, after.failing_path) == ("stuck", reason, path)
    return after.cause


@pytest.mark.parametrize("reason", REASONS)
@pytest.mark.parametrize("path", ["", "pay"])
@pytest.mark.parametrize("error", [None, OSError("down")])
@pytest.mark.parametrize("back", [False, True])
def test_whatever_is_stuck_has_a_cause(reason: StuckReason, path: str, error: Exception | None, back: bool) -> None:
    """A group is found by its cause: what had none would be in no group, and nobody would act on it."""
    cause = stopped(reason, path, error, back)
    assert len(cause) == 16 and int(cause, 16) >= 0
    assert stopped(reason, path, error, back, before="of an earlier stop") == cause


def test_what_is_cured_differently_is_another_cause() -> None:
    """The reason, the step, the direction, the class and the text of what was raised tell causes apart."""
    causes = [
        stopped(reason, path, error, back)
        for reason, path, error, back in product(
            [StuckReason.COMPENSATION_FAILED, StuckReason.OUTCOME_UNKNOWN],
            ["pay", "ship"],
            [OSError("down"), OSError("full"), KeyError("down")],
            [False, True],
        )
    ]
    assert len(set(causes)) == len(causes)


def test_what_is_cured_alike_is_one_cause() -> None:
    """Ids and numbers in what was said, and the turn of a loop, do not tell causes apart."""
    failed = StuckReason.COMPENSATION_FAILED
    said = [OSError(f"refund {number} of ch_{number}a refused") for number in (1, 23)]
    assert stopped(failed, "line[3]/pay", said[0]) == stopped(failed, "line[14]/pay", said[1])


@pytest.mark.parametrize("reason", sorted(NOTHING_RAISED))
def test_what_a_step_had_raised_before_is_no_cause(reason: StuckReason) -> None:
    """Its workers died, or its code is not there: what an earlier attempt said is another matter."""
    assert stopped(reason, "pay", OSError("slow")) == stopped(reason, "pay", KeyError("other"))


def test_after_a_halt_a_group_is_named_by_its_first_failure_again() -> None:
    """Its failures are told together, and the compensation that halted its unwind is not why it failed."""
    first, second = (
        Record(seq=at, path=path, name=path, status=StepStatus.FAILED, error_text=describe(OSError(path)).to_json())
        for at, path in enumerate(["beta", "alpha"])
    )
    stands = Record(seq=2, path="gamma", name="gamma", status=StepStatus.COMPLETED)
    x = Snapshot(saga="s", revision=1, records=[first, second, stands])
    began = begin_unwind(None, x, UnwindCause.FAILURE, NOW, ["beta", "alpha"])
    ended = finish(stick(began, StuckReason.COMPENSATION_FAILED, "gamma"), Status.FAILED, NOW)
    assert (ended.failing_path, ended.cause, ended.error_text) == ("beta", began.cause, began.error_text)


def test_after_a_halt_a_deadline_that_passed_is_at_no_step_again() -> None:
    """Promise P9. The compensation that halted its unwind is not what was late."""
    stands = Record(seq=0, path="gamma", name="gamma", status=StepStatus.COMPLETED)
    x = expire(Snapshot(saga="s", revision=1, records=[stands], deadline_at=NOW))
    began = begin_unwind(None, x, UnwindCause.FAILURE, NOW)
    ended = finish(stick(began, StuckReason.COMPENSATION_FAILED, "gamma"), Status.FAILED, NOW)
    assert (ended.failing_path, ended.cause, ended.error_text) == ("", x.cause, x.error_text)
