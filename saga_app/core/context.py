"""What a body can ask about the call it is in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal, TypeAlias
from uuid import UUID

Outcome: TypeAlias = Literal["", "completed", "failed", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The `ctx` of a step, a compensation or a reconcile.

    Attributes:
        path: where in the saga the call stands: the step's name, in loops with the turns around, as in `line[3]/pack`.
        attempt: which try of this call it is, from 1.
        results: what earlier nodes provide, by name: of a loop it is in this turn's, of one that is over the list.
        idempotency_key: the same for all attempts of this call; give it to whatever is called outside.
        forward_idempotency_key: in a compensation and a reconcile, the key the forward call used.
        outcome: in a compensation and a reconcile, what became of the forward call; empty in a step.
        deadline: when this attempt will be interrupted; None when the step has no timeout.
        index: which turn of the innermost loop the call is in, from 0; None outside of loops.
    """

    execution_id: UUID
    saga: str
    path: str
    attempt: int
    idempotency_key: str
    forward_idempotency_key: str = ""
    results: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    deadline: datetime | None = None
    outcome: Outcome = ""
    index: int | None = None
    ask_input: Callable[[], Any] = field(default=lambda: None, repr=False, compare=False)
    ask_cancelled: Callable[[], bool] = field(default=lambda: False, repr=False, compare=False)
    tell_progress: Callable[[float, str], None] = field(
        default=lambda _fraction, _text: None, repr=False, compare=False
    )

    @property
    def input(self) -> Any:
        """What the execution was started with: an instance of its dataclass, else a mapping."""
        return self.ask_input()

    @property
    def cancel_requested(self) -> bool:
        """Somebody has asked to cancel the execution: a long body may stop early, by raising."""
        return self.ask_cancelled()

    def progress(self, fraction: float, text: str = "") -> None:
        """Tell how far it is, from 0 to 1, for people who watch. Never fails: a figure outside is moved inside."""
        inside = min(max(fraction, 0.0), 1.0) if fraction == fraction else 0.0  # noqa: PLR0124 - NaN
        self.tell_progress(float(inside), text)
