"""While, Repeat and ForEach: a body that runs once for each turn, its records under paths of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from saga_app.core.blocks import body
from saga_app.core.computes import chooser, truth
from saga_app.core.element import Element
from saga_app.core.errors import BadChoice, DefinitionError
from saga_app.core.names import check_provided
from saga_app.core.options import count
from saga_app.core.refs import Ref
from saga_app.core.steps import Step

if TYPE_CHECKING:
    from typing import Self

    from saga_app.core.element import Block
    from saga_app.core.nodes import Node


@dataclass(frozen=True, eq=False, repr=False, init=False)
class _Turning(Element):
    """What While and Repeat have in common: a condition, whose name is theirs, and a limit."""

    condition: Step[..., Any]
    body: Block
    max_iterations: int

    def _made(self, word: str, condition: object, nodes: tuple[Node, ...], example: str, limit: object) -> None:
        made = chooser(condition, f"{word}(…)")
        where = f"{word}({made.name or '…'})"
        row = body(where, nodes, example)
        most = count(limit, f"{where}: max_iterations")
        self._keep(name=made.name, provides="", condition=_asked(word, made), body=row, max_iterations=most)

    def blocks(self) -> list[tuple[str, Block]]:
        """The body."""
        return [("body", self.body)]

    def bind(self, **values: object) -> Self:
        """A copy whose condition gets these arguments."""
        return self.but(condition=self.condition.bind(**values))

    def named(self, name: str | None = None, *, provides: str | None = None) -> Self:
        """A copy of another name, under which its turns are recorded."""
        other = super().named(name, provides=provides)
        return other.but(condition=_asked(type(self).__name__, replace(other.condition, name=other.name)))


def _asked(word: str, made: Step[..., Any]) -> Step[..., Any]:
    return replace(made, judge=partial(truth, f"{word} `{made.name}`"))


@dataclass(frozen=True, eq=False, repr=False, init=False)
class While(_Turning):
    """Turns as long as a condition holds, asked before each of them."""

    kind: ClassVar[Literal["while"]] = "while"

    def __init__(self, condition: Callable[..., Any], /, *nodes: Node, max_iterations: int = 100) -> None:
        self._made("While", condition, nodes, "While(condition, first, second)", max_iterations)


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Repeat(_Turning):
    """Turns until a condition holds, asked after each of them."""

    kind: ClassVar[Literal["repeat"]] = "repeat"

    def __init__(self, *nodes: Node, until: Callable[..., Any], max_iterations: int = 100) -> None:
        self._made("Repeat", until, nodes, "Repeat(first, second, until=condition)", max_iterations)


@dataclass(frozen=True, eq=False, repr=False, init=False)
class ForEach(Element):
    """The body once for each item of a list. The item is seen by the loop's name; so are the results, afterwards."""

    kind: ClassVar[Literal["foreach"]] = "foreach"
    gives: ClassVar[bool] = True

    items: Step[..., Any]
    body: Block
    concurrency: int
    max_items: int

    def __init__(
        self,
        name: str,
        items: Ref | Callable[..., Any],
        /,
        *nodes: Node,
        concurrency: int = 1,
        max_items: int = 1000,
    ) -> None:
        where = f"ForEach({name!r})"
        check_provided(name, where)
        self._keep(name=name, provides=name, body=body(where, nodes, f"{where[:-1]}, items, first, second)"))
        self._keep(concurrency=count(concurrency, f"{where}: concurrency"))
        self._keep(max_items=count(max_items, f"{where}: max_items"))
        self._keep(items=self.judged(_items(items, where)))

    def blocks(self) -> list[tuple[str, Block]]:
        """The body."""
        return [("body", self.body)]

    def bind(self, **values: object) -> Self:
        """A copy whose callable of items gets these arguments."""
        return self.but(items=self.items.bind(**values))

    def named(self, name: str | None = None, *, provides: str | None = None) -> Self:
        """A copy of another name, by which its body sees the item."""
        other = super().named(name, provides=provides)
        return other.but(items=other.judged(other.items))

    def check(self, value: object) -> str:
        """How many items there are; BadChoice when that is no list, or too long a one."""
        where = f"ForEach `{self.name}`"
        if not isinstance(value, list | tuple):
            raise BadChoice(f"{where}: its items are of type {type(value).__name__}: give it a list, as in list(…)")
        if len(value) > self.max_items:
            raise BadChoice(
                f"{where}: it has {len(value)} items, and max_items is {self.max_items}: write max_items={len(value)}, "
                f"or loop over chunks, as in [all[i : i + 100] for i in range(0, len(all), 100)]"
            )
        return str(len(value))

    def judged(self, made: Step[..., Any]) -> Step[..., Any]:
        """The step that finds the items, with who says whether they are some."""
        return replace(made, name=self.name, judge=self.check)


def _items(written: object, where: str) -> Step[..., Any]:
    example = 'a ref("input.lines") or a function that returns a list'
    if isinstance(written, Ref):
        return replace(chooser(_itself, where, example), bindings=MappingProxyType({"items": written}))
    if isinstance(written, str):
        raise DefinitionError(f"{where}: its items are {written!r}: write ref({written!r})")
    return chooser(written, where, example)


def _itself(items: Any) -> Any:
    return items
