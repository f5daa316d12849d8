"""What is allowed in a saga and seldom meant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from saga_app.core.nodes import (
    Approval,
    Child,
    ForEach,
    Loop,
    Milestone,
    Node,
    Repeat,
    Sleep,
    Step,
    Wait,
    While,
    blocks,
    walk,
)
from saga_app.core.tree import places

if TYPE_CHECKING:
    from saga_app.core.saga import Saga


def endless_debts(saga: Saga[Any]) -> Iterator[Loop]:
    """Loops that owe more with each turn, rest in between, and have no milestone: a late failure undoes all turns."""
    grouped = {name for name, place in places(saga.nodes).items() if place.lanes}
    for node in walk(saga.nodes):
        if isinstance(node, While | Repeat | ForEach) and node.name not in grouped:
            body = _body(node)
            if not any(isinstance(one, Milestone) for one in body) and _owes(body) and _rests(body):
                yield node


def _body(loop: Loop) -> Sequence[Node]:
    return [one for _, row in blocks(loop) for one in row]


def _owes(body: Sequence[Node]) -> bool:
    return any(
        (isinstance(one, Step) and one.compensation is not None and one.compensated)
        or (isinstance(one, Child) and one.compensated)
        for one in walk(body)
    )


def _rests(body: Sequence[Node]) -> bool:
    return any(isinstance(one, Wait | Approval | Sleep) for one in walk(body))
