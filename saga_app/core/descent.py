"""No saga is its own child, whether at once or through others: such an execution would never end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from saga_app.core.errors import DefinitionError
from saga_app.core.nodes import Child, walk

if TYPE_CHECKING:
    from saga_app.core.saga import Saga


def check_descent(saga: Saga[Any]) -> None:
    """Look up the children, and theirs; DefinitionError when one is not there, or is the saga itself."""
    ways: list[tuple[Saga[Any], ...]] = [()]
    seen: set[tuple[str, int]] = set()
    while ways:
        way = ways.pop()
        for child in walk((way[-1] if way else saga).nodes):
            if not isinstance(child, Child):
                continue
            try:
                target = child.target
            except DefinitionError as unknown:
                raise DefinitionError(f"saga {(way[-1] if way else saga).name!r} has {unknown}") from None
            if (target.name, target.revision) == (saga.name, saga.revision):
                raise DefinitionError(_told(saga.name, [one.name for one in way]))
            if (target.name, target.revision) not in seen:
                seen.add((target.name, target.revision))
                ways.append((*way, target))


def _told(name: str, through: list[str]) -> str:
    between = f", through {' and '.join(repr(one) for one in through)}" if through else ""
    return (
        f"saga {name!r} is its own child{between}, so an execution of it would never end: "
        f"write While(…) or Repeat(…) to do the same again, or give what is done again a saga of its own"
    )
