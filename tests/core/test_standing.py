"""What a node is in a picture: its records together, and what has none by what is behind it."""

from __future__ import annotations

from typing import Any

import pytest

from saga_app import If, Pivot, While
from saga_app.core.graph import END, START
from saga_app.core.snapshot import Record, Snapshot
from saga_app.core.standing import standing, standings
from saga_app.core.status import CompensationStatus, Status, StepStatus
from tests.core.graphing import ask, do, graph
from tests.pictures import NOW

DONE = StepStatus.COMPLETED


def picture(*records: tuple[str, StepStatus], **facts: Any) -> Snapshot:
    found = [
        Record(seq=seq, path=path, name=path.rpartition("/")[2].partition("[")[0], status=status)
        for seq, (path, status) in enumerate(records)
    ]
    return Snapshot(saga="s", revision=1, **{"status": Status.RUNNING, **facts}, records=found)  # type: ignore[arg-type]


def test_a_step_that_went_back_is_what_became_of_that() -> None:
    record = Record(seq=0, path="a", name="a", status=DONE)
    for back, word in [
        ("", "completed"), ("running", "compensating"), ("waiting", "compensating"), ("compensated", "compensated"),
        ("failed", "compensation_failed"), ("abandoned", "abandoned"), ("resolved", "resolved"),
    ]:  # fmt: skip
        assert standing(record.but(compensation_status=CompensationStatus(back))) == word


def test_what_has_no_record_was_passed_if_anything_behind_it_was_reached() -> None:
    drawn = graph(do("a"), Pivot(), do("b"), do("c"))
    (pivot,) = [node["id"] for node in drawn["nodes"] if node["kind"] == "pivot"]
    assert standings(drawn, picture(status=Status.PENDING)).states == {}
    assert standings(drawn, picture(("a", DONE))).states == {START: "passed", "a": "completed"}
    on = standings(drawn, picture(("a", DONE), ("b", StepStatus.RUNNING), pivoted_at=NOW)).states
    assert on == {START: "passed", "a": "completed", pivot: "passed", "b": "running"}
    assert END in standings(drawn, picture(("a", DONE), status=Status.COMPLETED)).states


def test_the_way_that_was_not_taken_is_not_reached() -> None:
    found = standings(graph(If(ask("which"), do("a"), otherwise=do("b"))), picture(("which", DONE), ("b", DONE)))
    assert "a" not in found.states and found.states["b"] == "completed" and found.turns == {}


@pytest.mark.parametrize(
    ("last", "word"), [("completed", "completed"), ("running", "running"), ("failed", "failed"), ("waiting", "waiting")]
)
def test_a_loop_is_what_its_least_settled_turn_is(last: str, word: str) -> None:
    records = [("again[0]", DONE), ("again[0]/a", DONE), ("again[1]", DONE), ("again[1]/a", StepStatus(last))]
    found = standings(graph(While(ask("again"), do("a"))), picture(*records))
    assert (found.states["a"], found.turns) == (word, {"again": 2, "a": 2})
