"""What `saga.start()` and `saga.run()` reach: functions that need Django, put here once the app is ready."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from saga_app.core.errors import NotReady

if TYPE_CHECKING:
    from saga_app.models import Execution

T = TypeVar("T")

#: Called as door(saga, input, key=, actor=, priority=, due=); `input` is what accept() takes, or None.
Door: TypeAlias = "Callable[..., Execution]"
Awaited: TypeAlias = "Callable[[Door], Callable[..., Awaitable[Execution]]]"


@dataclass(slots=True)
class _Doors:
    start: Door | None = None
    run: Door | None = None
    awaited: Awaited | None = None


_doors = _Doors()


def bind_doors(*, start: Door, run: Door, awaited: Awaited) -> None:
    """Said once, by the app, when it is ready. `awaited` makes the async twin of a function: sync_to_async."""
    _doors.start, _doors.run, _doors.awaited = start, run, awaited


def start_door() -> Door:
    """The function behind saga.start()."""
    return _opened(_doors.start, "start()")


def run_door() -> Door:
    """The function behind saga.run()."""
    return _opened(_doors.run, "run()")


def awaited(function: Door) -> Callable[..., Awaitable[Execution]]:
    """The async twin of a function that reaches a door."""
    return _opened(_doors.awaited, "an async start")(function)


def _opened(door: T | None, name: str) -> T:
    if door is None:
        raise NotReady(
            f'{name} needs a Django that is set up: put "saga_app" into INSTALLED_APPS, call django.setup() '
            f"(manage.py does it for you), and do not start a saga while modules are being imported"
        )
    return door
