"""The lists of the input that loops run over, looked at before anything has run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from saga_app.core.errors import BadChoice, DefinitionError
from saga_app.core.nodes import ForEach, Node, Parallel, Repeat, blocks
from saga_app.core.refs import Ref, walk


def items_refused(nodes: Iterable[Node], values: Mapping[str, Any]) -> dict[str, str]:
    """Field of the input → why a loop that is sure to be reached cannot run over it."""
    found = {}
    for loop in _surely(nodes):
        reference = loop.items.bindings.get("items")
        keys = _way(reference)
        if not keys or keys[0] not in values:
            continue
        try:
            loop.check(walk(values[keys[0]], keys[1:], getattr(reference, "path", "")))
        except (BadChoice, DefinitionError) as problem:
            found[keys[0]] = str(problem)
    return found


def _way(reference: object) -> tuple[str, ...]:
    """The field of the input, and the way into it; empty when the items come from elsewhere."""
    if not isinstance(reference, Ref):
        return ()
    return reference.keys if reference.head == "input" else (reference.head, *reference.keys)


def _surely(nodes: Iterable[Node]) -> Iterator[ForEach]:
    """The loops that no choice and no failure that is recovered from can leave out."""
    for one in nodes:
        if isinstance(one, ForEach):
            yield one
        elif isinstance(one, Parallel | Repeat):
            for _, row in blocks(one):
                yield from _surely(row)
