"""The one rule for arguments, carried out: where each argument of a call comes from, and how it is filled.

A parameter is filled by the first that has it: (1) `ctx`; (2) a binding; (3) a loop's item, innermost first, or
`iteration`; (4) what an earlier node provides under that name; (5) the saga's input; (6) its default. Which of them
fills which parameter is worked out once, as a CallPlan (planning.py), and carried out for each call by `fill`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any, Final, Protocol, TypeAlias

from saga_app.core.errors import DefinitionError
from saga_app.core.refs import walk


class Values(Protocol):
    """What one execution has so far, as it is seen from the place of one call."""

    @property
    def input(self) -> Mapping[str, Any]:
        """The input, name → value."""

    @property
    def iteration(self) -> int:
        """Which turn of the innermost loop the call is in, from 0."""

    def output(self, names: tuple[str, ...]) -> Any:
        """What the last one to run of these nodes gave.

        KeyError when none of them gave anything: skipped, failed, or never reached.
        """

    def item(self, loop: str) -> Any:
        """The item of that loop which the call is for."""


class Absent(LookupError):
    """An origin that has nothing this time."""


class _LeftOut(Enum):
    LEFT_OUT = "left out"


#: The value of an argument that is not passed at all: a child's input has defaults of its own.
LEFT_OUT: Final = _LeftOut.LEFT_OUT


@dataclass(frozen=True, slots=True)
class FromContext:
    """`ctx`, or a way into its input object."""

    keys: tuple[str, ...] = ()
    path: str = "ctx"

    def take(self, values: Values, ctx: Any) -> Any:
        """The context itself, or what is found in it."""
        return walk(ctx, self.keys, self.path)


@dataclass(frozen=True, slots=True)
class FromValue:
    """A plain value: bound, or the parameter's default."""

    value: Any

    def take(self, values: Values, ctx: Any) -> Any:
        """The value."""
        return self.value


@dataclass(frozen=True, slots=True)
class FromOutput:
    """What a name means that these nodes provide, each on a way of its own; or a way into it."""

    names: tuple[str, ...]
    keys: tuple[str, ...] = ()
    written: str = ""

    def take(self, values: Values, ctx: Any) -> Any:
        """The output, if there is one."""
        try:
            value = values.output(self.names)
        except KeyError:
            raise Absent(self.names) from None
        return walk(value, self.keys, self.written)


@dataclass(frozen=True, slots=True)
class FromItem:
    """The item of a loop, or a way into it."""

    loop: str
    keys: tuple[str, ...] = ()
    written: str = ""

    def take(self, values: Values, ctx: Any) -> Any:
        """The item."""
        return walk(values.item(self.loop), self.keys, self.written)


@dataclass(frozen=True, slots=True)
class FromIteration:
    """Which turn of the innermost loop it is, from 0."""

    def take(self, values: Values, ctx: Any) -> Any:
        """The number."""
        return values.iteration


@dataclass(frozen=True, slots=True)
class FromInput:
    """A field of the input, or a way into it."""

    name: str
    keys: tuple[str, ...] = ()
    written: str = ""

    def take(self, values: Values, ctx: Any) -> Any:
        """The field, if it was given."""
        if self.name not in values.input:
            raise Absent(self.name)
        return walk(values.input[self.name], self.keys, self.written)


@dataclass(frozen=True, slots=True)
class FromCall:
    """What a callable given to bind() returns; its own parameters follow the same rule."""

    function: Callable[..., Any]
    plan: CallPlan

    def take(self, values: Values, ctx: Any) -> Any:
        """Call it."""
        return self.function(**fill(self.plan, values, ctx=ctx))


Origin: TypeAlias = FromContext | FromValue | FromOutput | FromItem | FromIteration | FromInput | FromCall
Source: TypeAlias = tuple[Origin, ...]  #: asked in this order; the first that has it fills the parameter


@dataclass(frozen=True, slots=True)
class CallPlan:
    """Where each argument of one call comes from."""

    sources: Mapping[str, Source]

    @property
    def reads(self) -> frozenset[str]:
        """The nodes whose output is read, and the loops whose item is."""
        outputs = (name for one in self.origins() if isinstance(one, FromOutput) for name in one.names)
        return frozenset([*outputs, *(one.loop for one in self.origins() if isinstance(one, FromItem))])

    @property
    def calls_user_code(self) -> bool:
        """A callable is called, or a way into a value is walked, whose attributes may be properties."""
        return any(
            isinstance(one, FromCall) or (isinstance(one, FromOutput | FromItem | FromInput) and bool(one.keys))
            for one in self.origins()
        )

    @property
    def wants_context(self) -> bool:
        """Making the arguments takes the context, which is then more than an argument."""
        return any(isinstance(one, FromCall) or (isinstance(one, FromContext) and one.keys) for one in self.origins())

    def origins(self) -> Iterator[Origin]:
        """Everything that may be asked, in bound callables too."""
        for source in self.sources.values():
            for one in source:
                yield one
                if isinstance(one, FromCall):
                    yield from one.plan.origins()


def fill(
    plan: CallPlan, values: Values, *, ctx: Any, given: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, Any]:
    """The arguments of one call. `given` wins over all but `ctx`: a handler gets the forward call's own arguments."""
    filled = {
        name: given[name] if name in given and name != "ctx" else _first(name, source, values, ctx)
        for name, source in plan.sources.items()
    }
    return {name: value for name, value in filled.items() if value is not LEFT_OUT}


def _first(name: str, source: Source, values: Values, ctx: Any) -> Any:
    for origin in source:
        try:
            return origin.take(values, ctx)
        except Absent:
            continue
    read = (name for one in source if isinstance(one, FromOutput) for name in one.names)
    asked = ", ".join(f"`{one}`" for one in read) or "the stored arguments"
    raise DefinitionError(f"nothing fills parameter `{name}`: {asked} had nothing for it")
