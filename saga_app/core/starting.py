"""start, run and their async twins: what a saga, and a saga with `using(…)`, have in common."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar, overload

from saga_app.core.doors import Door, awaited, run_door, start_door
from saga_app.core.errors import InputError

if TYPE_CHECKING:
    from saga_app.core.saga import Saga
    from saga_app.models import Execution


class Dataclass(Protocol):
    """Any dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


I = TypeVar("I")  # noqa: E741 - as in Saga[I]
D = TypeVar("D", bound=Dataclass)


class Starting(Generic[I]):
    """Something that can be started. With `input=` a dataclass one instance of it is given, else values by name."""

    _saga: Saga[Any]
    _options: Mapping[str, Any] = MappingProxyType({})
    """What using() was told, for the door."""

    @overload
    def start(
        self: Starting[Mapping[str, Any]],
        input: Mapping[str, Any] | None = None,
        /,
        *,
        key: str | None = None,
        actor: Any = None,
        **values: Any,
    ) -> Execution: ...
    @overload
    def start(self: Starting[D], input: D, /, *, key: str | None = None, actor: Any = None) -> Execution: ...
    def start(self, input: Any = None, /, *, key: str | None = None, actor: Any = None, **values: Any) -> Execution:
        """Start an execution, when the caller's transaction commits. One `key`, one execution."""
        return self._enter(start_door(), _given(self._saga, input, values), key, actor)

    @overload
    async def astart(
        self: Starting[Mapping[str, Any]],
        input: Mapping[str, Any] | None = None,
        /,
        *,
        key: str | None = None,
        actor: Any = None,
        **values: Any,
    ) -> Execution: ...
    @overload
    async def astart(self: Starting[D], input: D, /, *, key: str | None = None, actor: Any = None) -> Execution: ...
    async def astart(
        self, input: Any = None, /, *, key: str | None = None, actor: Any = None, **values: Any
    ) -> Execution:
        """start(), awaited."""
        return await awaited(self._enter)(start_door(), _given(self._saga, input, values), key, actor)

    @overload
    def run(
        self: Starting[Mapping[str, Any]],
        input: Mapping[str, Any] | None = None,
        /,
        *,
        key: str | None = None,
        actor: Any = None,
        **values: Any,
    ) -> Execution: ...
    @overload
    def run(self: Starting[D], input: D, /, *, key: str | None = None, actor: Any = None) -> Execution: ...
    def run(self, input: Any = None, /, *, key: str | None = None, actor: Any = None, **values: Any) -> Execution:
        """Start an execution and drive it here, until it parks or ends. Refused inside a transaction."""
        return self._enter(run_door(), _given(self._saga, input, values), key, actor)

    @overload
    async def arun(
        self: Starting[Mapping[str, Any]],
        input: Mapping[str, Any] | None = None,
        /,
        *,
        key: str | None = None,
        actor: Any = None,
        **values: Any,
    ) -> Execution: ...
    @overload
    async def arun(self: Starting[D], input: D, /, *, key: str | None = None, actor: Any = None) -> Execution: ...
    async def arun(
        self, input: Any = None, /, *, key: str | None = None, actor: Any = None, **values: Any
    ) -> Execution:
        """run(), awaited."""
        return await awaited(self._enter)(run_door(), _given(self._saga, input, values), key, actor)

    def _enter(self, door: Door, given: object, key: str | None, actor: object) -> Execution:
        return door(self._saga, given, key=key, actor=actor, **self._options)


class Using(Starting[I]):
    """A saga with options for the executions started through it."""

    def __init__(self, saga: Saga[I], options: Mapping[str, Any]) -> None:
        self._saga, self._options = saga, options


def _given(saga: Saga[Any], given: object, values: Mapping[str, Any]) -> object:
    """Values travel as one mapping, so that a field may be called `priority` without meaning the option."""
    if given is not None and values:
        raise InputError(saga.name, dict.fromkeys(values, "stands beside a whole input: give the one or the other"))
    return values or given
