"""Wait and Sleep: an execution that rests, and no worker with it, until a signal or a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from saga_app.core.blocks import block
from saga_app.core.element import Element
from saga_app.core.errors import DefinitionError
from saga_app.core.names import check_step_name
from saga_app.core.options import check_value
from saga_app.core.refs import Ref
from saga_app.core.seconds import Seconds, seconds

if TYPE_CHECKING:
    from saga_app.core.element import Block, Written

    OnTimeout: TypeAlias = Literal["fail"] | Block


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Wait(Element):
    """Rests until a signal of that name has come. Provides what came with it."""

    kind: ClassVar[Literal["wait"]] = "wait"
    gives: ClassVar[bool] = True

    signal: str
    timeout: float | None
    on_timeout: OnTimeout

    def __init__(
        self, signal: str, /, *, timeout: Seconds | None = None, on_timeout: Literal["fail"] | Written = "fail"
    ) -> None:
        name = check_step_name(signal, "the signal of Wait(…)")
        where = f"Wait({signal!r})"
        self._keep(name=name, provides=name, signal=name)
        self._keep(timeout=limit(timeout, where), on_timeout=at_timeout(on_timeout, timeout, where))

    def blocks(self) -> list[tuple[str, Block]]:
        """What is done when its time is up."""
        return [("timeout", self.on_timeout)] if self.on_timeout != "fail" else []


def limit(timeout: Seconds | None, where: str) -> float | None:
    """How long a gate stays open, in seconds."""
    return None if timeout is None else seconds(timeout, f"{where}: timeout")


def at_timeout(written: object, timeout: object, where: str) -> OnTimeout:
    """What is done when that time is up."""
    if written == "fail":
        return "fail"
    if isinstance(written, str):
        raise DefinitionError(f'{where}: on_timeout is {written!r}: write on_timeout="fail", or a list of nodes')
    row = block(f"{where}: on_timeout", written, 'write its nodes, or on_timeout="fail"')
    if timeout is None:
        raise DefinitionError(f"{where} has on_timeout and no timeout, so its time is never up: write timeout=3600")
    return row


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Sleep(Element):
    """Rests for a while, or until a moment. A datetime without a zone is in the project's zone."""

    kind: ClassVar[Literal["sleep"]] = "sleep"

    bindings: Mapping[str, object]
    """`delta` in seconds, or `until`: a value, a ref or a callable."""

    def __init__(
        self,
        delta: Seconds | Ref | Callable[..., Any] | None = None,
        /,
        *,
        until: datetime | Ref | Callable[..., Any] | None = None,
    ) -> None:
        if (delta is None) == (until is None):
            raise DefinitionError("Sleep(…): write how long, as in Sleep(60), or Sleep(until=…), the one or the other")
        bound: dict[str, object] = {"until": _moment(until)} if delta is None else {"delta": _delta(delta)}
        self._keep(name="sleep", provides="", bindings=MappingProxyType(bound))


def _delta(written: object) -> object:
    if isinstance(written, int | float | timedelta):
        return seconds(written, "Sleep(…): its length")
    if isinstance(written, datetime):
        raise DefinitionError("Sleep(…) has a moment, not a length: write Sleep(until=…)")
    return _later(written, "Sleep(…)", "write seconds, a timedelta, a ref or a function that returns one of them")


def _moment(written: object) -> object:
    if isinstance(written, datetime):
        return written
    return _later(written, "Sleep(until=…)", "write a datetime, a ref or a function that returns one")


def _later(written: object, where: str, cure: str) -> object:
    if not isinstance(written, Ref) and (isinstance(written, type) or not callable(written)):
        raise DefinitionError(f"{where} has {written!r}: {cure}")
    check_value(where, written)
    return written
