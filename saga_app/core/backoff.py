"""When to try again: how long the wait before the next attempt is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta

from saga_app.core.errors import DefinitionError
from saga_app.core.seconds import Seconds, seconds


@dataclass(frozen=True, slots=True, init=False)
class Backoff:
    """Waits that grow: `first`, then `factor` times longer each time, never more than `max`.

    `jitter` shortens each wait by chance, by up to that share of it, so that many executions do not come back at once.
    """

    first: float
    factor: float
    max: float
    jitter: float

    def __init__(
        self,
        first: Seconds = 0.5,
        factor: float = 2,
        max: Seconds = 30,  # noqa: A002 - the public word
        jitter: float = 0.5,
    ) -> None:
        shortest, longest = seconds(first, "Backoff(first=)", zero=True), seconds(max, "Backoff(max=)", zero=True)
        if shortest > longest:
            raise DefinitionError(
                f"Backoff(first=) is {_plain(first)}, longer than max={_plain(max)}, so every wait would be cut: "
                f"write Backoff(first={_plain(first)}, max={_plain(first)})"
            )
        object.__setattr__(self, "first", shortest)
        object.__setattr__(self, "factor", _within(factor, "factor", 1, math.inf))
        object.__setattr__(self, "max", longest)
        object.__setattr__(self, "jitter", _within(jitter, "jitter", 0, 1))

    def delay(self, attempt: int, dice: float) -> float:
        """Seconds to wait after attempt number `attempt` (from 1) failed; `dice` is a chance in [0, 1)."""
        try:
            grown = self.first * self.factor ** (attempt - 1)
        except OverflowError:
            grown = math.inf
        wait = min(grown, self.max) if self.first else 0.0
        return wait * (1 - self.jitter * dice)


def _within(value: object, name: str, low: float, high: float) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise DefinitionError(f"Backoff({name}=) is {value!r}: write a number")
    if not low <= value <= high or math.isinf(value):
        limits = f"{low:g} or more" if math.isinf(high) else f"from {low:g} to {high:g}"
        raise DefinitionError(f"Backoff({name}=) is {value!r}: write a number that is {limits}")
    return float(value)


def _plain(value: Seconds) -> str:
    return f"{value.total_seconds():g}" if isinstance(value, timedelta) else f"{value:g}"
