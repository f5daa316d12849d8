"""Which gate a signal or a decision is meant for, and why it may be meant for none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from saga_app.core.names import closest
from saga_app.core.nodes import Approval, Wait
from saga_app.core.opening import only_by_path
from saga_app.core.status import StepStatus
from saga_app.core.tree import name_of, turns_of
from saga_app.core.verbs import Refused

if TYPE_CHECKING:
    from saga_app.core.saga import Saga
    from saga_app.core.snapshot import Record, Snapshot


def misdirected(saga: Saga[Any], name: str, records: Iterable[Record]) -> Refused | None:
    """Why a signal of that name opens nothing in the saga; None where some gate waits for it, now or later.

    Args:
        saga: the definition.
        name: a signal's name, or the path of a gate.
        records: the execution's.
    """
    waits = [one for one in _gates(saga) if isinstance(one, Wait)]
    meant = [one for one in waits if one.signal == name]
    if any(not only_by_path(saga, one.name) for one in meant):
        return None
    if meant:
        paths = [one.path for one in records if _is_open(one) and one.name in {gate.name for gate in meant}]
        return Refused("ambiguous_gate", {"gate": name, "paths": ", ".join(paths)})
    node = saga.node(name)
    if isinstance(node, Approval):
        return Refused("is_approval", {"gate": name})
    if isinstance(node, Wait) and _is_path(saga, name):
        return None
    known = [one.signal for one in waits] + [one.path for one in records if one.kind == "wait"]
    return Refused("no_such_gate", {"gate": name, "nearest": closest(name, known)})


def approval_at(saga: Saga[Any], gate: str) -> Approval | Refused:
    """The approval that a name or a path means, whether it is open or not."""
    node = saga.node(gate)
    if isinstance(node, Approval):
        return node
    if isinstance(node, Wait):
        return Refused("not_an_approval", {"gate": gate})
    known = [one.name for one in _gates(saga) if isinstance(one, Approval)]
    return Refused("no_such_gate", {"gate": gate, "nearest": closest(gate, known)})


def open_approval(x: Snapshot, gate: str) -> Record | Refused:
    """The record at which a decision may be made, or why there is none.

    Args:
        x: the facts.
        gate: a path, or a name where one gate of that name is open.
    """
    named = [one for one in x.records if one.kind == "approval" and gate in (one.path, one.name)]
    exact = [one for one in named if one.path == gate]
    able = [one for one in exact or named if _is_open(one)]
    if len(able) > 1:
        return Refused("ambiguous_gate", {"gate": gate, "paths": ", ".join(one.path for one in able)})
    if able:
        return _undecided(x, able[0])
    latest = max(exact or named, key=lambda one: one.seq, default=None)
    return _why_closed(gate, latest)


def _undecided(x: Snapshot, record: Record) -> Record | Refused:
    """A verdict that is stored and not consumed yet decides already."""
    told = next((one for one in x.signals if one.name == record.path and one.verdict), None)
    return Refused("decided", {"gate": record.path, "verdict": told.verdict}) if told else record


def _why_closed(gate: str, record: Record | None) -> Refused:
    if record is None:
        return Refused("not_open", {"gate": gate})
    if record.choice == "timeout":
        return Refused("too_late", {"gate": record.path, "until": until(record)})
    if record.choice:
        return Refused("decided", {"gate": record.path, "verdict": record.choice})
    return Refused("not_open", {"gate": record.path})


def until(record: Record) -> str:
    """The end of the time a gate was open for, for people."""
    return f"{record.due_at:%Y-%m-%d %H:%M:%S} UTC" if record.due_at else ""


def _is_open(record: Record) -> bool:
    return record.status == StepStatus.WAITING


def _is_path(saga: Saga[Any], path: str) -> bool:
    """Whether a record may have this path: every loop around the gate has its turn in it."""
    place = saga.place(path)
    try:
        turns = turns_of(path)
    except ValueError:
        return False
    if place is None or list(turns) != [one.name for one in place.loops]:
        return False
    return path == "".join(f"{loop}[{turn}]/" for loop, turn in turns.items()) + name_of(path)


def _gates(saga: Saga[Any]) -> Iterator[Wait | Approval]:
    for place in saga.places.values():
        if isinstance(place.node, Wait | Approval):
            yield place.node
