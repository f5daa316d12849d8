"""Saga: nodes in an order, under a name and a revision."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, overload

from saga_app.core import registry
from saga_app.core.binding import CallPlan
from saga_app.core.descent import check_descent
from saga_app.core.doors import bind_doors
from saga_app.core.errors import DefinitionError, InputError
from saga_app.core.inputs import WHOLE, read_dataclass
from saga_app.core.items import items_refused
from saga_app.core.names import check_saga_name, nearest
from saga_app.core.nodes import Node, Pivot, as_nodes
from saga_app.core.options import queue_name
from saga_app.core.providers import Readable
from saga_app.core.refs import Ref
from saga_app.core.sealing import Input, Sealed, seal
from saga_app.core.seconds import Seconds, seconds
from saga_app.core.starting import D, I, Starting, Using
from saga_app.core.steps import Step
from saga_app.core.tree import Place, last_names, name_of, places
from saga_app.core.validation import check_shape, fingerprint_of, steps_of

if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["Saga", "bind_doors"]

OnFailure = Literal["unwind", "hold"]

#: The column that keeps revisions is this wide.
_HIGHEST_REVISION = 2**31 - 1


class Saga(Starting[I]):
    """Steps that together happen or are undone. Built when its module is imported; sealed when first used."""

    @overload
    def __init__(
        self: Saga[Mapping[str, Any]],
        name: str,
        /,
        *nodes: Node,
        input: None = None,
        output: Ref | None = None,
        revision: int = 1,
        on_failure: OnFailure = "unwind",
        timeout: Seconds | None = None,
        queue: str | None = None,
        title: str = "",
    ) -> None: ...
    @overload
    def __init__(
        self: Saga[D],
        name: str,
        /,
        *nodes: Node,
        input: type[D],
        output: Ref | None = None,
        revision: int = 1,
        on_failure: OnFailure = "unwind",
        timeout: Seconds | None = None,
        queue: str | None = None,
        title: str = "",
    ) -> None: ...
    @overload
    def __init__(
        self: Saga[Mapping[str, Any]],
        name: str,
        /,
        *nodes: Node,
        input: Callable[..., Any],
        output: Ref | None = None,
        revision: int = 1,
        on_failure: OnFailure = "unwind",
        timeout: Seconds | None = None,
        queue: str | None = None,
        title: str = "",
    ) -> None: ...
    def __init__(
        self,
        name: str,
        /,
        *nodes: Any,
        input: Any = None,
        output: Ref | None = None,
        revision: int = 1,
        on_failure: str = "unwind",
        timeout: Seconds | None = None,
        queue: str | None = None,
        title: str = "",
    ) -> None:
        """Check shape and names, and join the registry. Nothing else is looked up yet."""
        self.name = check_saga_name(name)
        where = f"saga {name!r}"
        self.nodes: tuple[Node, ...] = as_nodes(where, nodes)
        check_shape(where, self.nodes)
        self.steps = steps_of(self.nodes)
        self.input_type = input
        self.output = _output(output, where)
        self.revision = _revision(revision, where)
        self.on_failure = _on_failure(on_failure, where)
        self.timeout = None if timeout is None else seconds(timeout, f"{where}: timeout")
        self.queue = queue_name(queue, f"{where}: queue")
        self.title = title
        self.module = _caller()
        self.places: Mapping[str, Place] = MappingProxyType(places(self.nodes))
        self._pivot = next((place for place, one in enumerate(self.nodes) if isinstance(one, Pivot)), None)
        self._last_words = last_names(self.nodes[: self._pivot]) if self._pivot is not None else frozenset()
        self._sealed: Sealed | None = None
        self._saga = self
        registry.register(self)

    def __repr__(self) -> str:
        """Name and revision."""
        return f"<saga {self.name} revision {self.revision}>"

    # Shape

    def place(self, path: str) -> Place | None:
        """Where the node whose record has this path stands."""
        return self.places.get(name_of(path))

    def node(self, path: str) -> Node | None:
        """The node whose record has this path."""
        place = self.place(path)
        return place.node if place else None

    def step(self, path: str) -> Step[..., Any] | None:
        """The step that is called at that path: a step, or what a node chooses with."""
        place = self.place(path)
        return place.step if place else None

    @property
    def has_pivot(self) -> bool:
        """There is a point past which it only goes forward."""
        return self._pivot is not None

    def before_pivot(self, path: str) -> bool:
        """The pivot may come right after this node."""
        return name_of(path) in self._last_words

    def past_pivot(self, path: str) -> bool:
        """The node stands after the pivot."""
        place = self.place(path)
        return place is not None and self._pivot is not None and place.top > self._pivot

    @property
    def fingerprint(self) -> str:
        """The shape as a hash: another one means that the code has changed under a running execution."""
        return self._sealed.fingerprint if self._sealed else fingerprint_of(self.nodes)

    # Sealing

    @property
    def sealed(self) -> bool:
        """Its input and calls have been worked out."""
        return self._sealed is not None

    def seal(self) -> None:
        """Work out its input and calls; DefinitionError when it cannot run. Done once, and again while it fails."""
        self._plans()

    def call(self, node: Node | str) -> CallPlan:
        """Where the arguments of a step, or of what a node is bound to, come from."""
        return self._plans().calls[_named(node)]

    def compensation_call(self, node: Node | str) -> CallPlan:
        """Where the arguments of its compensation come from."""
        return self._plans().compensations[_named(node)]

    def reconcile_call(self, node: Node | str) -> CallPlan:
        """Where the arguments of its reconcile come from."""
        return self._plans().reconciles[_named(node)]

    def allow_call(self, node: Node | str) -> CallPlan:
        """Where the arguments of an approval's `allow` come from; `actor` is given."""
        return self._plans().allows[_named(node)]

    @property
    def readable(self) -> Readable:
        """What can be read of an execution by name, and how."""
        return self._plans().readable

    @property
    def output_call(self) -> CallPlan | None:
        """Where what the execution returns comes from, as the argument `value`; None when it returns nothing."""
        return self._plans().output

    def _plans(self) -> Sealed:
        rivals = registry.conflict(self.name, self.revision)
        if rivals:
            raise DefinitionError(rivals)
        if self._sealed is None:
            check_descent(self)
            self._sealed = seal(self.name, self.nodes, self.input_type, self.output)
        return self._sealed

    # Input

    @property
    def accepts(self) -> Input:
        """The input, field by field: what forms are built from."""
        return self._plans().input

    @property
    def input_names(self) -> Mapping[str, bool]:
        """Name → it must be given."""
        return self._plans().input.names

    @property
    def input_hints(self) -> Mapping[str, tuple[Any, ...]]:
        """Name → the types that are declared for it."""
        return self._plans().input.hints

    def accept(self, input: Any = None, values: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The input as name → value, checked and not coerced; InputError for what does not fit."""
        found = self._plans().input
        if input is None:
            return self._countable(found.accept(values or {}))
        if values:
            raise InputError(self.name, dict.fromkeys(values, "stands beside a whole input: give the one or the other"))
        return self._countable(found.accept(self._by_name(input)))

    def convert(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """What a door was given as text or JSON, converted and checked. Hand the answer on as the input, whole."""
        return self._countable(self._plans().input.convert(raw))

    def make_input(self, values: Mapping[str, Any]) -> Any:
        """What ctx.input is: an instance of the input's dataclass, else a mapping."""
        return self._plans().input.build(values)

    def _countable(self, values: dict[str, Any]) -> dict[str, Any]:
        """The input again, once every loop that is sure to run over a part of it can."""
        wrong = items_refused(self.nodes, values)
        if wrong:
            raise InputError(self.name, wrong)
        return values

    def _by_name(self, input: Any) -> Mapping[str, Any]:
        if isinstance(input, Mapping):
            return input
        wanted = self.input_type if isinstance(self.input_type, type) else None
        if wanted is type(input) and hasattr(wanted, "__dataclass_fields__"):
            return read_dataclass(input)
        raise InputError(
            self.name,
            {
                WHOLE: f"must be {wanted.__name__ if wanted else 'a mapping'}, is {type(input).__name__}; "
                "or give its values by name"
            },
        )

    # Doors: start, astart, run and arun are in Starting

    def using(self, *, queue: str | None = None, priority: int = 0, due: datetime | None = None) -> Using[I]:
        """For executions on another queue, of another priority (lower goes first), or that begin later."""
        options: dict[str, Any] = {"priority": priority, "due": due}
        return Using(self, options if queue is None else {**options, "queue": queue_name(queue, "using(): queue")})


def _named(node: Node | str) -> str:
    return node if isinstance(node, str) else node.name


def _output(value: object, where: str) -> Ref | None:
    if value is None or isinstance(value, Ref):
        return value
    raise DefinitionError(f'{where}: output is {value!r}: write output=ref("name") for what a step provides')


def _revision(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= _HIGHEST_REVISION:
        raise DefinitionError(f"{where}: revision is {value!r}: write a whole number from 1 on, one more each time")
    return value


def _on_failure(value: object, where: str) -> str:
    known = ("unwind", "hold")
    if value not in known:
        raise DefinitionError(f"{where}: on_failure is {value!r}. {nearest(str(value), known)}")
    return str(value)


def _caller() -> str:
    """The module in which the saga stands: the first frame outside of this one and of `Saga[X](…)` in typing."""
    frame = sys._getframe(1)  # noqa: SLF001
    while frame.f_back and frame.f_globals.get("__name__") in {__name__, "typing"}:
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", "?"))
