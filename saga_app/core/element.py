"""What every node but a step has in common: a name, what it provides, its blocks, and copies instead of changes."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from saga_app.core.errors import DefinitionError
from saga_app.core.names import check_provided, check_step_name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from saga_app.core.nodes import Node

    Block: TypeAlias = tuple[Node, ...]
    Written: TypeAlias = Node | Sequence[Node]


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Element:
    """A node that is control flow. `provides` is "" where nothing can be read by a name."""

    gives: ClassVar[bool] = False
    """There is something to read from it once it is over."""

    name: str
    provides: str

    def __repr__(self) -> str:
        """Short, for error messages."""
        return f"<{type(self).__name__} {self.name}>" if self.name else f"<{type(self).__name__}>"

    @property
    def shown(self) -> str:
        """As error messages call it."""
        kind = type(self).__name__
        return f"{kind} `{self.name}`" if self.name not in {"", kind.lower()} else f"{kind}(…)"

    def blocks(self) -> list[tuple[str, Block]]:
        """The rows of nodes inside, each with its label. An empty row is a way on which nothing is done."""
        return []

    def named(self, name: str | None = None, *, provides: str | None = None) -> Self:
        """A copy of another name (under which its output is visible too)."""
        kind = type(self).__name__
        if name is not None:
            check_step_name(name, f"the name of {kind}(…)")
            provides = provides or (name if self.gives else None)
        if provides is None:
            return self.but(name=self.name if name is None else name)
        if not self.gives:
            raise DefinitionError(f"{kind}(…) provides nothing: leave provides= out")
        where = f"{kind} `{name or self.name or '…'}`"
        return self.but(name=self.name if name is None else name, provides=check_provided(provides, where))

    def _keep(self, **facts: Any) -> None:
        for name, value in facts.items():
            object.__setattr__(self, name, value)

    def but(self, **facts: Any) -> Self:
        """The same node with some facts changed."""
        other = copy(self)
        for name, value in facts.items():
            object.__setattr__(other, name, value)
        return other
