"""Branch and If: one of several ways, chosen by a callable whose answer is recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from saga_app.core.blocks import block, body
from saga_app.core.computes import chooser, truth
from saga_app.core.element import Element
from saga_app.core.errors import BadChoice, DefinitionError
from saga_app.core.names import check_step_name
from saga_app.core.steps import Step

if TYPE_CHECKING:
    from typing import Self

    from saga_app.core.element import Block, Written
    from saga_app.core.nodes import Node

#: The way of a Branch for every choice that has none of its own.
DEFAULT = "default"


@dataclass(frozen=True, eq=False, repr=False, init=False)
class _Choice(Element):
    """What Branch and If have in common: the step that chooses, whose name is theirs, and the ways."""

    chooser: Step[..., Any]
    paths: Mapping[str, Block]

    def blocks(self) -> list[tuple[str, Block]]:
        """The ways."""
        return list(self.paths.items())

    def bind(self, **values: object) -> Self:
        """A copy whose callable gets these arguments."""
        return self.but(chooser=self.chooser.bind(**values))

    def named(self, name: str | None = None, *, provides: str | None = None) -> Self:
        """A copy of another name, under which its choice is recorded."""
        other = super().named(name, provides=provides)
        return other.but(chooser=other.judged(replace(other.chooser, name=other.name)))

    def judged(self, made: Step[..., Any]) -> Step[..., Any]:
        """The step that chooses, with who says what its answers mean."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Branch(_Choice):
    """One of several ways: the one whose label the callable returns, else `default` if there is one."""

    kind: ClassVar[Literal["branch"]] = "branch"

    def __init__(self, choose: Callable[..., Any], /, **paths: Written) -> None:
        made = chooser(choose, "Branch(…)", "a function that returns the name of a path, as in lambda method: method")
        where = f"Branch({made.name or '…'})"
        if not paths.keys() - {DEFAULT}:
            raise DefinitionError(f"{where} has no paths: write Branch(choose, card=charge, invoice=[bill, remind])")
        ways = {label: _way(f"{where}, path `{label}`", label, row) for label, row in paths.items()}
        self._keep(name=made.name, provides="", paths=MappingProxyType(ways))
        self._keep(chooser=self.judged(made))

    def judged(self, made: Step[..., Any]) -> Step[..., Any]:
        """Its answer is one of the labels."""
        return replace(made, judge=partial(_label, f"Branch `{made.name}`", tuple(self.paths)))


@dataclass(frozen=True, eq=False, repr=False, init=False)
class If(_Choice):
    """What is done if a condition holds, and what otherwise."""

    kind: ClassVar[Literal["if"]] = "if"

    def __init__(self, condition: Callable[..., Any], /, *nodes: Node, otherwise: Written | None = None) -> None:
        made = chooser(condition, "If(…)")
        where = f"If({made.name or '…'})"
        yes = body(where, nodes, "If(condition, first, second); for what is done otherwise alone, turn the condition")
        no = () if otherwise is None else block(f"{where}, otherwise", otherwise, "write its nodes, or leave it out")
        self._keep(name=made.name, provides="", paths=MappingProxyType({"true": yes, "false": no}))
        self._keep(chooser=self.judged(made))

    def judged(self, made: Step[..., Any]) -> Step[..., Any]:
        """Its answer is True or False."""
        return replace(made, judge=partial(truth, f"If `{made.name}`"))


def _way(where: str, label: str, written: object) -> Block:
    check_step_name(label, f"{where}: its name")
    if label == DEFAULT and isinstance(written, list | tuple) and not written:
        return ()  # said in so many words: for everything else there is nothing to do
    return block(where, written, "write its nodes, or leave it out and write default=[] for nothing to be done")


def _label(where: str, labels: tuple[str, ...], value: object) -> str:
    for one in labels:
        if isinstance(value, str) and one == value:
            return one
    if DEFAULT in labels:
        return DEFAULT
    known = ", ".join(f"`{one}`" for one in labels)
    raise BadChoice(
        f"{where}: {value!r:.80} is none of its paths: return one of {known}, or write default=[…] for everything else"
    )
