"""Rows of nodes as people write them, checked: what is no node is refused with the line to write instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from saga_app.core.element import Element
from saga_app.core.errors import DefinitionError
from saga_app.core.starting import Starting
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
    raise DefinitionError(f"{where}{_wrong(written)}")


def _wrong(written: object) -> str:
    """What somebody wrote where a node belongs, and what to write instead."""
    name = getattr(written, "__name__", None)
    if isinstance(written, type) and issubclass(written, Element):
        return f" has `{name}`, the class: write {name}({'' if name == 'Pivot' else '…'})"
    if isinstance(written, list | tuple):
        return f" has a {type(written).__name__} of nodes: write them one after the other, or put a * before it"
    if isinstance(written, Starting):
        return f" has a saga in it, {written!r}: write Child(…) around it"
    if isinstance(getattr(written, "__wrapped__", None), Step):
        return f" has something that hides the step `{name}`, another decorator: make @step its outermost decorator"
    if getattr(written, "__module__", "") == "saga_app.core.computes":
        return f" has `{name}` without parentheses: write {name}(…)"
    if name == "<lambda>":
        return ' has a lambda: write Compute("name", lambda …), or step(name="name")(lambda …) if it does something'
    if callable(written) and not isinstance(written, type):
        return f": `{name or written}` is a plain function: write @step above its def"
    return f" has {written!r}, which is no node: write a step, or Branch(…), Wait(…) and the like"
