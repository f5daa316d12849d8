"""Durations as people write them: a number of seconds or a timedelta, read and checked in one place."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TypeAlias

from saga_app.core.errors import DefinitionError

Seconds: TypeAlias = float | timedelta

#: Longer than ten years is a slip of the pen, and a moment that far away may not exist as a datetime.
LONGEST = 3660 * 86_400.0


def seconds(value: object, what: str, *, zero: bool = False) -> float:
    """The duration in seconds; `what` names it in the error, `zero` says whether none at all is meant."""
    if isinstance(value, timedelta):
        number = value.total_seconds()
    elif isinstance(value, int | float) and not isinstance(value, bool):
        number = _float(value)
    else:
        raise DefinitionError(f"{what} is {value!r}: write seconds, as in 30 or 0.5, or a timedelta")
    if math.isnan(number) or number < 0 or (number == 0 and not zero):
        least = "0 or more" if zero else "more than 0"
        raise DefinitionError(f"{what} is {value!r}: write a number of seconds that is {least}")
    if number > LONGEST:
        raise DefinitionError(f"{what} is {value!r}: that is more than ten years; write at most {LONGEST:.0f} seconds")
    return number


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # an int of more than 308 digits
        return math.inf if value > 0 else -math.inf
