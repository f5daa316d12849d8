"""What is written on the nodes of a graph: a title, the facts behind it, and a line for each that a reader asks for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from saga_app.core.nodes import (
    Approval,
    Child,
    ForEach,
    Repeat,
    Sleep,
    Step,
    Wait,
    While,
    called,
)
from saga_app.core.refs import Ref

if TYPE_CHECKING:
    from saga_app.core.nodes import Node

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))
_WORDS = {
    "branch": "branch",
    "if": "if",
    "while": "while",
    "repeat": "repeat until",
    "foreach": "for each",
    "parallel": "in parallel",
    "try": "try",
    "wait": "wait for",
    "approval": "approval",
}
_MARKS = {"milestone": ["an unwind stops here"], "pivot": ["from here on only forward"]}


@dataclass(frozen=True, slots=True)
class Facts:
    """What a program asks of a node."""

    atomic: bool = False
    optional: bool = False
    compensated: bool = False
    queue: str = ""
    child: str = ""


def facts_of(node: Node) -> Facts:
    """The facts of a node; most are those of a step."""
    if isinstance(node, Step):
        undone = node.compensation is not None and node.compensated
        return Facts(node.atomic, not node.required, undone, node.queue or "")
    if isinstance(node, Child):
        saga = node.saga if isinstance(node.saga, str) else node.saga.name
        return Facts(compensated=node.compensated, child=saga)
    return Facts()


def title_of(node: Node) -> str:
    """What people call it."""
    step = called(node)
    if step is not None and step.title:
        return step.title
    if node.kind in ("pivot", "parallel", "try"):
        return node.kind.capitalize()
    return node.name


def group_label(node: Node) -> str:
    """What is written on the frame around a node and what is in it."""
    word = _WORDS.get(node.kind, node.kind)
    return word if node.kind in ("parallel", "try") else f"{word} {title_of(node)}"


def lines_of(node: Node) -> list[str]:
    """What is written below the title."""
    return list(_lines(node))


def span(seconds: float) -> str:
    """A length of time in the largest unit that it is a whole number of."""
    size, unit = next((each for each in _UNITS if seconds >= each[0] and seconds % each[0] == 0), (1, "s"))
    return f"{seconds / size:g} {unit}"


def _lines(node: Node) -> Iterator[str]:
    match node:
        case Step():
            yield from _step(node)
        case While() | Repeat():
            yield f"at most {node.max_iterations} turns"
        case ForEach():
            yield "one after the other" if node.concurrency == 1 else f"{node.concurrency} at a time"
        case Child():
            yield f"saga {facts_of(node).child}"
            if not node.compensated:
                yield "not undone"
        case Wait() | Approval():
            yield from _gate(node)
        case Sleep():
            yield _how_long(node)
    yield from _MARKS.get(node.kind, ())


def _step(step: Step[..., object]) -> Iterator[str]:
    facts = facts_of(step)
    if step.pure:
        yield "compute"
    if facts.atomic:
        yield "atomic"
    if facts.optional:
        yield "optional"
    if step.compensation is not None and facts.compensated:
        name = getattr(step.compensation.function, "__name__", "<lambda>")
        yield "undone" if name == "<lambda>" else f"undone by {name}"
    if facts.queue:
        yield f"queue {facts.queue}"


def _gate(gate: Wait | Approval) -> Iterator[str]:
    if isinstance(gate, Wait):
        if gate.signal != gate.name:
            yield f"signal {gate.signal}"
    else:
        if gate.permission:
            yield gate.permission
        if gate.four_eyes:
            yield "four eyes"
        if gate.on_reject == "fail":
            yield "rejected: fails"
    if gate.timeout is not None and gate.on_timeout == "fail":
        yield f"after {span(gate.timeout)}: fails"


def _how_long(node: Sleep) -> str:
    word, value = next(iter(node.bindings.items()))
    if isinstance(value, Ref):
        shown = value.path
    elif isinstance(value, datetime):
        shown = value.isoformat(" ")
    elif isinstance(value, int | float):
        shown = span(value)
    else:
        name = getattr(value, "__name__", "<lambda>")
        shown = "as long as computed" if name == "<lambda>" else name
    return f"until {shown}" if word == "until" else f"for {shown}"
