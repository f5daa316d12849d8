"""The sagas in a saga are sealed before it, the innermost first: however deep, none is sealed from within another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from saga_app.core.nodes import Child, Node, walk

if TYPE_CHECKING:
    from saga_app.core.saga import Saga


def seal_children(nodes: Iterable[Node]) -> None:
    """Seal every saga that these nodes contain."""
    for saga in _unsealed(nodes, set()):
        saga.seal()


def _unsealed(nodes: Iterable[Node], known: set[int]) -> Iterator[Saga[Any]]:
    for node in walk(nodes):
        if isinstance(node, Child) and not node.target.sealed and id(node.target) not in known:
            known.add(id(node.target))
            yield from _unsealed(node.target.nodes, known)
            yield node.target
