"""The nodes of a saga, as data: steps, and the pivot between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from saga_app.core.errors import DefinitionError
from saga_app.core.steps import Step


@dataclass(frozen=True, slots=True)
class Pivot:
    """The point past which a saga only goes forward: nothing is compensated any more."""

    kind: ClassVar[Literal["pivot"]] = "pivot"


Node: TypeAlias = Step[..., Any] | Pivot


def as_nodes(where: str, written: tuple[object, ...]) -> tuple[Node, ...]:
    """What was written between the parentheses of a saga, each checked to be a node."""
    return tuple(_node(where, one) for one in written)


def _node(where: str, written: object) -> Node:
    if isinstance(written, Step | Pivot):
        return written
    if written is Pivot:
        raise DefinitionError(f"{where} has `Pivot`, the class: write Pivot()")
    if isinstance(written, list | tuple):
        raise DefinitionError(
            f"{where} has a {type(written).__name__} of nodes: write them one after the other, or put a * before it"
        )
    name = getattr(written, "__name__", None)
    if isinstance(getattr(written, "__wrapped__", None), Step):
        raise DefinitionError(f"{where}: another decorator hides the step `{name}`: make @step its outermost decorator")
    if callable(written) and not isinstance(written, type):
        raise DefinitionError(f"{where}: `{name or written}` is a plain function: write @step above its def")
    raise DefinitionError(f"{where} has {written!r}, which is neither a step nor Pivot()")
