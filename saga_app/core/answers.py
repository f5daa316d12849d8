"""Answers: a reconcile's, about a call whose outcome is unknown; and a person's, at an approval."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What somebody decided at an Approval.

    Attributes:
        approved: yes or no.
        actor: the name of who decided.
        reason: what they wrote.
        input: what they filled in, as the approval's `input=` makes it: a dataclass, else a mapping.
        at: when they decided.
    """

    approved: bool
    actor: str = ""
    reason: str = ""
    input: Any = None
    at: datetime | None = None
