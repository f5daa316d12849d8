"""What a reconcile may answer when asked whether a call whose outcome is unknown had its effect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Happened(Generic[T]):
    """It had its effect; `value` is what the step would have returned."""

    value: T = None  # type: ignore[assignment]  # a step that returns nothing: Happened()


@dataclass(frozen=True, slots=True)
class NotHappened:
    """It did not, and with this key it *cannot any more*. Whoever cannot promise that answers `Unknown()`."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nobody can say. The same as answering None."""
