"""Rows of nodes as people write them, checked: what is no node is refused with the line to write instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from saga_app.core.element import Element
from saga_app.core.errors import DefinitionError
from saga_app.core.steps import Step

if TYPE_CHECKING:
    from collections.abc import Iterable

    from saga_app.core.nodes import Node


def as_nodes(where: str, written: Iterable[object]) -> tuple[Node, ...]:
    """What was written one after the other, each checked to be a node."""
    return tuple(as_node(where, one) for one in written)


def block(where: str, written: object, empty: str) -> tuple[Node, ...]:
    """What was written where a block is wanted: a lone node, or a list of them. `empty` says what to write if none."""
    row = as_nodes(where, written if isinstance(written, list | tuple) else (written,))
    if not row:
        raise DefinitionError(f"{where} is empty: {empty}")
    return row


def body(where: str, written: tuple[object, ...], example: str) -> tuple[Node, ...]:
    """The nodes between the parentheses, at least one."""
    row = as_nodes(where, written)
    if not row:
        raise DefinitionError(f"{where} has no nodes in it: write {example}")
    return row


def as_node(where: str, written: object) -> Node:
    """One node."""
    if isinstance(written, Step | Element):
        return cast("Node", written)
    if isinstance(written, type) and issubclass(written, Element):
        cure = f"{written.__name__}({'' if written.__name__ == 'Pivot' else '…'})"
        raise DefinitionError(f"{where} has `{written.__name__}`, the class: write {cure}")
    if isinstance(written, list | tuple):
        raise DefinitionError(
            f"{where} has a {type(written).__name__} of nodes: write them one after the other, or put a * before it"
        )
    name = getattr(written, "__name__", None)
    if isinstance(getattr(written, "__wrapped__", None), Step):
        raise DefinitionError(f"{where}: another decorator hides the step `{name}`: make @step its outermost decorator")
    if getattr(written, "__module__", "").startswith("saga_app.core.") and name == "Compute":
        raise DefinitionError(f'{where} has `Compute` without parentheses: write Compute("name", function)')
    if callable(written) and not isinstance(written, type):
        raise DefinitionError(f"{where}: `{name or written}` is a plain function: write @step above its def")
    raise DefinitionError(f"{where} has {written!r}, which is neither a step nor Pivot()")
