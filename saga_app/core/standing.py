"""What a node of a saga is, once its records are looked at together: the one word that a picture of it shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from saga_app.core.graph import END, START
from saga_app.core.status import CompensationStatus, Status

if TYPE_CHECKING:
    from saga_app.core.snapshot import Record, Snapshot

UNREACHED = ""
PASSED = "passed"  # of what has no record: whatever comes next was reached
_GOING_BACK = {
    CompensationStatus.RUNNING: "compensating",
    CompensationStatus.WAITING: "compensating",
    CompensationStatus.FAILED: "compensation_failed",
}
_FIRST = (  # what the records of several turns are together: the first of these that one of them is
    "running", "compensating", "compensation_failed", "waiting", "queued", "failed", "abandoned", "resolved",
    "compensated", "completed", "skipped",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Standing:
    """What the nodes of a graph are, by their ids.

    Attributes:
        states: one word each; those that were not reached are left out.
        turns: how many records a node has, where it stands in a loop.
    """

    states: Mapping[str, str]
    turns: Mapping[str, int]


def standing(record: Record) -> str:
    """What one record is: going back, its compensation; else what became of its call."""
    back = record.compensation_status
    return str(_GOING_BACK.get(back, back) if back else record.status)


def standings(graph: Mapping[str, Any], x: Snapshot) -> Standing:
    """What the nodes of a graph are in a picture of an execution."""
    named = {node["name"] for node in graph["nodes"] if node["name"]}
    found: dict[str, set[str]] = {}
    counted: Counter[str] = Counter()
    for record in x.records:
        if record.name in named:
            found.setdefault(record.name, set()).add(standing(record))
            counted[record.name] += "[" in record.path
    states = {name: _together(words) for name, words in found.items()}
    return Standing(_passed(graph, x, states), {name: count for name, count in counted.items() if count})


def _together(words: Iterable[str]) -> str:
    return min(words, key=lambda word: _FIRST.index(word) if word in _FIRST else len(_FIRST))


def _passed(graph: Mapping[str, Any], x: Snapshot, states: dict[str, str]) -> dict[str, str]:
    """With what has no record of its own: it was passed if anything behind it was reached."""
    states = dict(states)
    if x.records or x.started_at is not None or x.status == Status.COMPLETED:
        states[START] = PASSED
    if x.status == Status.COMPLETED:
        states[END] = PASSED
    behind: dict[str, list[str]] = {}
    for edge in graph["edges"]:
        if edge["kind"] != "turn":
            behind.setdefault(edge["from"], []).append(edge["to"])
    for node in reversed(graph["nodes"]):
        known_by = node["id"]
        if known_by in states or node["name"]:
            continue
        reached = any(one in states for one in behind.get(known_by, ()))
        if x.pivoted_at is not None if node["kind"] == "pivot" else reached:
            states[known_by] = PASSED
    return states
