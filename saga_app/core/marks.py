"""The marks a saga goes past: Pivot, after which it only goes forward, and Milestone, where an unwind stops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from saga_app.core.element import Element
from saga_app.core.errors import DefinitionError
from saga_app.core.names import check_step_name

if TYPE_CHECKING:
    from typing import Self


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Pivot(Element):
    """The point past which a saga only goes forward: nothing is compensated any more."""

    kind: ClassVar[Literal["pivot"]] = "pivot"

    def __init__(self) -> None:
        self._keep(name="", provides="")

    def named(self, name: str | None = None, *, provides: str | None = None) -> Self:
        """There is one pivot in a saga, so it has no name."""
        raise DefinitionError(f"Pivot() has no name: take .named({name or provides!r}) away")


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Milestone(Element):
    """A point that an unwind does not cross: what is done before it stays, and the execution rests there."""

    kind: ClassVar[Literal["milestone"]] = "milestone"

    def __init__(self, name: str) -> None:
        self._keep(name=check_step_name(name, "the name of Milestone(…)"), provides="")
