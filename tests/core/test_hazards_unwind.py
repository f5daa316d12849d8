"""Hazards of deciding backwards, on pictures alone: the order of the checks, and that deciding again is the same."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_app import Saga, step
from saga_app.core import registry
from saga_app.core.changes import advance, release
from saga_app.core.decide import decide
from saga_app.core.decisions import Compensate, Finish, Release, Stick
from saga_app.core.ending import begin_unwind
from saga_app.core.failures import ErrorInfo
from saga_app.core.snapshot import Record, Snapshot
from saga_app.core.status import (
    OUTCOMES,
    SETTLED,
    CompensationStatus,
    Status,
    StepStatus,
    StuckReason,
    UnwindCause,
)
from saga_app.core.unwind import Action, owed, plan_unwind
from saga_app.core.verbs import abandon

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
FAILED = CompensationStatus.FAILED
RAISED = ErrorInfo("OSError", "down").to_json()


def saga_of(names: str, *, handlers: str | None = None) -> Saga[Any]:
    """A saga of steps of these names; those in `handlers` can be compensated (all, where nothing is said)."""

    def make(name: str) -> Any:
        made = step(name=name)(lambda: None)
        if handlers is None or name in handlers:
            made.compensate(lambda: None)
        return made

    with registry.isolate():
        return Saga("s", *map(make, names))


def ran(path: str, seq: int, **facts: Any) -> Record:
    """A record of a step that owes."""
    known = {"status": StepStatus.COMPLETED, "attempt": 1, "owes": True, "may_have_happened": True}
    return Record(seq=seq, path=path, name=path, **{**known, **facts})


def going_back(*records: Record, **facts: Any) -> Snapshot:
    """An execution that unwinds because of a failure."""
    known = {"status": Status.COMPENSATING, "unwinding_at": NOW, "unwind_cause": UnwindCause.FAILURE, "due_at": NOW}
    return Snapshot(
        saga="s", revision=1, next_seq=len(records), records=records, error_text=RAISED, **{**known, **facts}
    )


@pytest.mark.parametrize(
    ("handler", "facts", "expected"),
    [
        (True, {}, (Action.COMPENSATE, "")),
        (True, {"compensation_status": FAILED}, (Action.HALT, StuckReason.COMPENSATION_FAILED)),
        (True, {"owes": False}, (Action.NOTHING, "no_compensation")),
        (True, {"status": StepStatus.FAILED, "may_have_happened": False}, (Action.NOTHING, "did_not_happen")),
        (True, {"status": StepStatus.SKIPPED}, (Action.NOTHING, "skipped")),
        (False, {}, (Action.HALT, StuckReason.DEFINITION_CHANGED)),
        (False, {"compensation_status": FAILED}, (Action.HALT, StuckReason.DEFINITION_CHANGED)),
        (False, {"owes": False}, (Action.NOTHING, "no_compensation")),
        *[
            (handler, {"compensation_status": settled}, (Action.DONE, settled))
            for handler in (True, False)
            for settled in sorted(SETTLED)
        ],
    ],
)
def test_the_order_of_the_checks(handler: bool, facts: dict[str, Any], expected: tuple[str, str]) -> None:
    """One pure function: vanished, settled, halted, not owed, compensate.

    Hazard A66. Hazard A70. Hazard A72. Hazard A73.
    A vanished step halts only where it failed or is owed and has no outcome; an earlier failure halts again; a settled
    outcome is never judged anew.
    """
    (line,) = plan_unwind(saga_of("a", handlers="a" if handler else ""), going_back(ran("a", 0, **facts)))
    assert (line.action, line.reason) == expected


def test_a_halt_blocks_what_started_earlier_and_nothing_else() -> None:
    """Hazard A67. What has its outcome, or owes nothing, is not blocked; what waits behind keeps none."""
    settled = CompensationStatus.RESOLVED
    records = [ran("a", 0), ran("b", 1, owes=False), ran("c", 2, compensation_status=settled)]
    records += [ran("d", 3, compensation_status=FAILED), ran("e", 4)]
    x = going_back(*records)
    actions = {line.path: line.action for line in plan_unwind(saga_of("abcde"), x)}
    assert actions == {"e": "compensate", "d": "halt", "c": "done", "b": "nothing", "a": "blocked"}
    assert decide(saga_of("abcde"), x, NOW) == Compensate("e")


@given(st.permutations(range(5)), st.lists(st.integers(0, 999), min_size=5, max_size=5))
def test_reverse_order_of_the_starts(order: list[int], clocks: list[int]) -> None:
    """Hazard A95, Hazard B174, Hazard B175. By sequence numbers alone: neither clocks nor the order of rows count."""
    records = [
        ran(name, seq, finished_at=NOW + timedelta(seconds=late), started_at=NOW - timedelta(seconds=late))
        for name, seq, late in zip("abcde", order, clocks, strict=True)
    ]
    plan = plan_unwind(saga_of("abcde"), going_back(*records))
    assert [line.record.seq for line in plan] == [4, 3, 2, 1, 0]


outcomes = st.sampled_from(sorted(CompensationStatus)).filter(lambda one: one not in ("running", "waiting"))


@st.composite
def unwinding(draw: st.DrawFn) -> tuple[Saga[Any], Snapshot]:
    """Any execution that goes back, and the code it meets: steps renamed, handlers gone or added."""
    records = []
    for seq, path in enumerate("abcde"):
        status = draw(st.sampled_from([StepStatus.COMPLETED, StepStatus.FAILED, StepStatus.SKIPPED]))
        record = ran(path, seq, status=status, owes=draw(st.booleans()), may_have_happened=draw(st.booleans()))
        records.append(record.but(compensation_status=draw(outcomes)) if owed(record) else record)
    names = "".join(name if draw(st.integers(0, 4)) else name.upper() for name in "abcde")
    return saga_of(names, handlers=draw(st.sampled_from(["abcde", "abcd", "ace", ""]))), going_back(*records)


@given(unwinding())
def test_it_ends_with_one_outcome_for_each_that_owes(one: tuple[Saga[Any], Snapshot]) -> None:
    """Promise P2. Hazard A64, Hazard A65, Hazard A86. Compensations that succeed lead to the end, or to a halt.

    No settled outcome changes on the way, none is given to what owes nothing, and nothing is called behind a halt.
    """
    saga, before = one
    x, decision = advance(saga, before, NOW)
    while isinstance(decision, Compensate):
        assert x.known(decision.path).compensation_status not in OUTCOMES
        x = x.with_record(decision.path, compensation_status=CompensationStatus.COMPENSATED)
        x, decision = advance(saga, x, NOW)
    assert isinstance(decision, Finish | Stick)
    for old, new in zip(before.records, x.records, strict=True):
        assert old.compensation_status in (new.compensation_status, "")
        assert owed(new) or not new.compensation_status
    unsettled = [r for r in x.records if owed(r) and r.compensation_status not in SETTLED]
    assert bool(unsettled) == isinstance(decision, Stick)
    if isinstance(decision, Stick):
        assert decision.path == max(unsettled, key=lambda r: r.seq).path


@given(unwinding())
def test_deciding_again_is_the_same_decision(one: tuple[Saga[Any], Snapshot]) -> None:
    """Hazard A65, Hazard A66, Hazard B161. Whoever comes after a death decides from the same facts, so the same.

    What was stuck and is resumed without any change halts at the same place.
    """
    saga, x = one
    _, first = advance(saga, x, NOW)
    after, again = advance(saga, x, NOW + timedelta(days=1))
    assert first == again
    if isinstance(again, Stick):
        stuck = release(after, again, NOW)
        assert decide(saga, stuck.but(status=Status.COMPENSATING), NOW) == again


@given(unwinding())
def test_abandoning_leaves_nothing_open(one: tuple[Saga[Any], Snapshot]) -> None:
    """With the code at hand or without it, each that owes has an outcome, and keeps what it had.

    Promise P2. Hazard A74.
    """
    saga, x = one
    for known in (saga, None):
        ended = abandon(x.but(status=Status.STUCK, stuck_reason=StuckReason.COMPENSATION_FAILED), known, NOW)
        assert (ended.status, ended.rollback_status, ended.due_at) == ("failed", "abandoned", None)
        for old, new in zip(x.records, ended.records, strict=True):
            assert new.compensation_status == (old.compensation_status or ("abandoned" if owed(old) else ""))


@pytest.mark.parametrize("status", [StepStatus.RUNNING, StepStatus.WAITING])
def test_the_beginning_settles_what_is_open(status: StepStatus) -> None:
    """No record stays open, or out of the plan: it may have happened, so it is owed.

    Design §9.1. Hazard R3.
    """
    open_one = ran("b", 1, status=status, may_have_happened=status == StepStatus.WAITING)
    x = Snapshot(saga="s", revision=1, status=Status.RUNNING, records=(ran("a", 0), open_one), due_at=NOW)
    after = begin_unwind(saga_of("ab"), x, UnwindCause.CANCEL, NOW)
    assert after.known("b").status == StepStatus.FAILED
    assert [line.action for line in plan_unwind(saga_of("ab"), after)] == ["compensate", "compensate"]
    assert after.unwinding_at == NOW and after.stuck_reason == ""


def test_a_release_is_not_a_change() -> None:
    """Hazard A92. What the rollback became is said where it has ended or halted, and nowhere before."""
    x = going_back(ran("a", 0))
    after, decision = advance(saga_of("a"), x, NOW)
    assert not isinstance(decision, Release) and after.rollback_status == ""
    done = x.with_record("a", compensation_status=CompensationStatus.COMPENSATED)
    assert release(done, Finish(Status.FAILED), NOW).rollback_status == "completed"
    nothing = going_back(ran("a", 0, owes=False))
    assert release(nothing, Finish(Status.FAILED), NOW).rollback_status == "not_applicable"
