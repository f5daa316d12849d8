"""Parallel and Try: nodes held together, side by side or under the eye of who recovers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Literal

from saga_app.core.blocks import as_node, block, body
from saga_app.core.element import Element
from saga_app.core.errors import DefinitionError
from saga_app.core.marks import Pivot
from saga_app.core.names import check_step_name
from saga_app.core.policy import Errors, error_classes

if TYPE_CHECKING:
    from saga_app.core.element import Block, Written
    from saga_app.core.nodes import Node


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Parallel(Element):
    """Branches that run side by side, on as many workers as there are; it is over when all of them are."""

    kind: ClassVar[Literal["parallel"]] = "parallel"

    branches: Mapping[str, Block]

    def __init__(self, *nodes: Node, **branches: Written) -> None:
        found: dict[str, Block] = {}
        for written in nodes:
            label, one = _lone(written)
            if label in found or label in branches:
                raise DefinitionError(
                    f"Parallel(…) has two branches called `{label}`: name one of them, as in Parallel({label}_again=…)"
                )
            found[label] = (one,)
        for label, row in branches.items():
            check_step_name(label, "the name of a branch of Parallel(…)")
            found[label] = block(f"Parallel(…), branch `{label}`", row, "write its nodes, or leave it out")
        if not found:
            raise DefinitionError("Parallel() has no branches: write Parallel(book_car, hotel=[book_hotel, pay_hotel])")
        self._keep(name="parallel", provides="", branches=MappingProxyType(found))

    def blocks(self) -> list[tuple[str, Block]]:
        """The branches."""
        return list(self.branches.items())


def _lone(written: object) -> tuple[str, Node]:
    if isinstance(written, list | tuple):
        raise DefinitionError(
            "Parallel(…) has a list without a name: write Parallel(hotel=[book_hotel, pay_hotel]), "
            "or put a * before it if each of its nodes is a branch of its own"
        )
    one = as_node("Parallel(…)", written)
    if not one.name and not isinstance(one, Pivot):  # which has no place here, and is told so by the saga
        raise DefinitionError(
            f"Parallel(…): {one.shown} has no name to call its branch by: write Parallel(hotel={one.shown})"
        )
    return one.name or one.kind, one


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Try(Element):
    """Nodes, and what is done when one of them fails with an error of `catch`. What they did stays owed."""

    kind: ClassVar[Literal["try"]] = "try"

    body: Block
    catch: tuple[type[BaseException], ...]
    recover: Block

    def __init__(self, *nodes: Node, catch: Errors = (Exception,), recover: Written = ()) -> None:
        row = body("Try(…)", nodes, "Try(first, second, catch=(SomeError,), recover=[third])")
        cure = "write recover=[what_to_do_instead]; to go on whatever happens, give the step required=False"
        self._keep(
            name="try",
            provides="",
            body=row,
            catch=error_classes(catch, "Try(…): catch"),
            recover=block("Try(…), recover", recover, cure),
        )
        if not self.catch:
            raise DefinitionError("Try(…) catches nothing: write the errors, as in catch=(CardDeclined,)")

    def blocks(self) -> list[tuple[str, Block]]:
        """What is tried, and what is done when that fails."""
        return [("body", self.body), ("recover", self.recover)]
