"""What makes a saga runnable: its shape and its names."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from saga_app.core.errors import DefinitionError
from saga_app.core.names import RESERVED
from saga_app.core.nodes import (
    Child,
    ForEach,
    Milestone,
    Node,
    Parallel,
    Pivot,
    Repeat,
    Try,
    Wait,
    While,
    blocks,
    walk,
)
from saga_app.core.providers import check_providers
from saga_app.core.steps import Step


def check_shape(where: str, nodes: Sequence[Node]) -> None:
    """Something to do, marks only where they mean something, no name twice and nothing provided twice."""
    if all(isinstance(one, Pivot | Milestone) for one in nodes):
        raise DefinitionError(f"{where} has no steps: write Saga(…, first_step, second_step)")
    _check_pivot(where, nodes)
    _check_milestones(where, nodes)
    _check_names(where, nodes)
    check_providers(where, nodes)
    _check_signals(where, nodes)


def steps_of(nodes: Iterable[Node]) -> tuple[Step[..., Any], ...]:
    """The steps, in the order in which they are written; none that merely computes."""
    return tuple(one for one in walk(nodes) if isinstance(one, Step) and not one.pure)


# Marks


def _check_pivot(where: str, nodes: Sequence[Node]) -> None:
    if sum(isinstance(one, Pivot) for one in nodes) > 1:
        raise DefinitionError(f"{where} has more than one Pivot(): past the first it only goes forward; leave one")
    for node in walk(nodes):
        for _, row in blocks(node):
            if any(isinstance(one, Pivot) for one in row):
                raise DefinitionError(
                    f"{where} has Pivot() inside {node.shown}: what is past a pivot is never undone, and from inside "
                    f"a block that may not run nobody could tell what is; move it between the saga's own nodes"
                )


def _check_milestones(where: str, row: Sequence[Node]) -> None:
    """An unwind goes back along one line, and a milestone is a point on it: the saga's own nodes, or a loop's turns."""
    for node in row:
        serial = isinstance(node, While | Repeat) or (isinstance(node, ForEach) and node.concurrency == 1)
        for _, inner in blocks(node):
            if serial:
                _check_milestones(where, inner)
                continue
            found = next((one for one in walk(inner) if isinstance(one, Milestone)), None)
            if found:
                raise DefinitionError(
                    f"{where} has Milestone({found.name!r}) inside {node.shown}, {_why_not(node)}; move it between the "
                    f"saga's own nodes, or straight into the body of a loop that takes one turn after the other"
                )


def _why_not(node: Node) -> str:
    if isinstance(node, Parallel | ForEach):
        return "whose parts run side by side: an unwind that stops at it would leave the other parts half undone"
    if isinstance(node, Try):
        return "whose body may fail and be recovered from: an unwind could not tell which part it should keep"
    return "which may go another way: nobody could tell where an unwind stops"


# Names


def _check_names(where: str, nodes: Sequence[Node]) -> None:
    """Records are found by name, so each node that has some needs one, and no other node has the same."""
    seen: dict[str, Node] = {}
    for one in walk(nodes):
        if isinstance(one, Pivot | Parallel | Try):
            continue
        if not one.name:
            _refuse_unnamed(where, one)
        if one.provides in RESERVED:
            raise DefinitionError(
                f"{where}: {one.shown} provides `{one.provides}`, a word that always means something else "
                f'({", ".join(sorted(RESERVED))}): write .named(provides="{one.provides}_value") behind it'
            )
        if one.name in seen:
            raise DefinitionError(f"{where} {_twice(seen[one.name], one)}")
        seen[one.name] = one


def _refuse_unnamed(where: str, node: Node) -> None:
    kind = type(node).__name__
    raise DefinitionError(
        f"{where}: what {kind}(…) chooses is recorded under the name of its function, and a lambda has none: "
        f'write {kind}(…).named("…"), or a def in its place'
    )


def _twice(one: Node, other: Node) -> str:
    again = f'.named("{_word(one.name)}_again")'
    written = _word(other.name) if isinstance(other, Step) and not other.pure else f"{_kind(other)}(…)"
    if type(one) is type(other) and _same(one, other):
        return f"uses {one.shown} twice, and each use needs a name of its own: write {written}{again}"
    if isinstance(one, Step) and isinstance(other, Step) and one.kind == other.kind:
        both, homes = "two Computes" if one.pure else "two steps", f" ({_home(one)} and {_home(other)})"
    else:
        both, homes = "two nodes", f" ({one.shown} and {other.shown})"
    return f"has {both} called `{one.name}`{homes}: name one of them, as in {written}{again}"


def _same(one: Node, other: Node) -> bool:
    """It is one thing written twice, and not two that happen to be called alike."""
    if not isinstance(one, Step) or not isinstance(other, Step):
        return True
    return one.function is other.function if one.pure and other.pure else one.bodies is other.bodies


def _kind(node: Node) -> str:
    return "Compute" if isinstance(node, Step) else type(node).__name__


def _home(step: Step[..., Any]) -> str:
    function = step.function
    return f"{getattr(function, '__module__', '?')}.{getattr(function, '__qualname__', step.name)}"


def _word(name: str) -> str:
    return name.replace("-", "_")


# Signals


def _check_signals(where: str, nodes: Sequence[Node]) -> None:
    """In one group two gates may be closed at the same time, and a signal opens whichever asks first."""
    for group in (one for one in walk(nodes) if isinstance(one, Parallel)):
        seen: dict[str, tuple[str, Wait]] = {}
        for label, gate in _gates(group):
            other_label, other = seen.setdefault(gate.signal, (label, gate))
            if other_label != label:
                raise DefinitionError(
                    f"{where}: in one Parallel(…), Wait `{other.name}` and Wait `{gate.name}` wait for the same signal "
                    f"{gate.signal!r}, and nobody could tell which of them it opens: give each a signal of its own, as "
                    f'in Wait("{gate.signal}_{label}"), or wait once, before or behind the group'
                )


def _gates(group: Parallel) -> Iterator[tuple[str, Wait]]:
    for label, row in group.branches.items():
        yield from ((label, one) for one in walk(row) if isinstance(one, Wait))


# Fingerprint


def fingerprint_of(nodes: Sequence[Node]) -> str:
    """The shape as a hash: what decides whether records of earlier code still mean the same."""
    return hashlib.sha256(json.dumps([_shape(one) for one in nodes], sort_keys=True).encode()).hexdigest()


def _shape(node: Node) -> Mapping[str, object]:
    """What a node is, with all that is in it. Not what may change under way: policies, limits, times and queues."""
    shape: dict[str, object] = {"kind": node.kind}
    if node.name:
        shape |= {"name": node.name, "provides": node.provides}
    if isinstance(node, Step):
        shape |= {
            "atomic": node.atomic,
            "required": node.required,
            "compensation": node.compensation is not None and node.compensated,
            "reconcile": node.reconciler is not None,
        }
    if isinstance(node, ForEach):
        shape["concurrent"] = node.concurrency > 1
    if isinstance(node, Wait):
        shape["signal"] = node.signal
    if isinstance(node, Child):
        shape |= {"saga": node.saga if isinstance(node.saga, str) else node.saga.name, "compensation": node.compensated}
    inner = blocks(node)
    if inner:
        shape["blocks"] = [[label, [_shape(one) for one in row]] for label, row in inner]
    return shape
