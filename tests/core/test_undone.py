"""What is still undone: the same records that the plan of the unwind is left with, lane by lane."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from saga_app import Milestone, Parallel, Saga
from saga_app.core import registry
from saga_app.core.records import Records
from saga_app.core.snapshot import Record, Snapshot
from saga_app.core.status import CompensationStatus, StepStatus
from saga_app.core.unwind import QUIET, owed, plan_unwind, undone
from tests.core.graphing import do
from tests.core.test_walk import pictures
from tests.pictures import NOW


def done(seq: int, name: str, **facts: Any) -> Record:
    known = {"owes": True, "may_have_happened": True, "status": StepStatus.COMPLETED, **facts}
    return Record(seq=seq, path=name, name=name, **known)


def saga(*nodes: Any) -> Saga[Any]:
    with registry.isolate():
        return Saga("s", *nodes)


def step(name: str) -> Any:
    made = do(name)
    made.compensate(lambda: None)
    return made


def paths(*records: Record, of: Saga[Any] | None) -> list[str]:
    x = Snapshot(saga="s", revision=1, records=Records(records), unwinding_at=NOW)
    return [one.path for one in undone(of, x)]


@settings(max_examples=min(40, settings().max_examples))
@given(st.integers(0, 2**32))
def test_it_is_what_the_plan_has_left(seed: int) -> None:
    for made, x in pictures(seed):
        if x.pivoted_at is None:
            left = {line.path for line in plan_unwind(made, x) if line.action not in QUIET and owed(line.record)}
            given_up = {one.path for one in x.records if one.compensation_status == CompensationStatus.ABANDONED}
            found = {one.path for one in undone(made, x)}
            assert left <= found <= left | given_up


def test_what_is_before_a_milestone_stands_because_it_shall() -> None:
    passed = Record(seq=1, path="m", name="m", kind="milestone", status=StepStatus.COMPLETED)
    records = [done(0, "a"), passed, done(2, "b")]
    assert paths(*records, of=saga(step("a"), Milestone("m"), step("b"))) == ["b"]
    assert paths(*records, of=None) == ["b"]


def test_a_child_that_rests_keeps_nothing_of_another_lane() -> None:
    """What ran beside it is undone, whenever it began."""
    made = saga(step("a"), Parallel(x=[step("b")], y=[step("c")]))
    rested = done(2, "c", kind="child", choice="paid")
    assert paths(done(0, "a"), done(1, "b"), rested, of=made) == ["c", "b"]


def test_what_was_given_up_stands_and_what_was_undone_does_not() -> None:
    words = {word: CompensationStatus(word) for word in ("abandoned", "failed", "compensated", "resolved", "")}
    records = [done(at, f"s{at}", compensation_status=word) for at, word in enumerate(words.values())]
    made = saga(*[step(f"s{at}") for at in range(len(words))])
    assert paths(*records, of=made) == ["s4", "s1", "s0"]
