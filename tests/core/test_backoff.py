"""Backoff: waits grow, stay below the maximum, and nonsense is refused when written."""

from __future__ import annotations

import math
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_app import Backoff, DefinitionError
from tests import strategies


@given(strategies.backoffs(), st.integers(1, 10**400), strategies.dice)
def test_a_delay_is_between_nothing_and_max(backoff: Backoff, attempt: int, dice: float) -> None:
    """Case C29. Whatever the factor and however many attempts, the delay neither overflows nor exceeds max."""
    delay = backoff.delay(attempt, dice)
    assert math.isfinite(delay)
    assert 0 <= delay <= backoff.max


@given(strategies.backoffs(), st.integers(1, 10_000))
def test_delays_never_shrink(backoff: Backoff, attempt: int) -> None:
    """Without chance, the wait after a later attempt is at least as long."""
    assert backoff.delay(attempt, 0) <= backoff.delay(attempt + 1, 0)


@given(strategies.backoffs(), st.integers(1, 50), strategies.dice)
def test_jitter_only_shortens(backoff: Backoff, attempt: int, dice: float) -> None:
    """Jitter j takes away up to the share j of the delay, never more, and never adds."""
    whole = backoff.delay(attempt, 0)
    assert whole * (1 - backoff.jitter) - 1e-9 <= backoff.delay(attempt, dice) <= whole


def test_the_defaults() -> None:
    """Half a second, doubled each time, half a minute at most."""
    backoff = Backoff()
    assert [backoff.delay(attempt, 0) for attempt in (1, 2, 3, 6, 7, 8, 5000)] == [0.5, 1, 2, 16, 30, 30, 30]
    assert backoff.delay(1, 0.999) == pytest.approx(0.25, abs=0.001)


def test_case_c29_is_exact() -> None:
    """Case C29. 1, 5, 25, … and 3600 for all that is left of 60 failures."""
    backoff = Backoff(first=1, factor=5, max=3600, jitter=0)
    delays = [backoff.delay(attempt, 0.7) for attempt in range(1, 61)]
    assert delays[:6] == [1, 5, 25, 125, 625, 3125]
    assert set(delays[6:]) == {3600}


def test_no_wait_at_all() -> None:
    """first=0 means at once, always."""
    backoff = Backoff(first=0, jitter=0)
    assert {backoff.delay(attempt, 0) for attempt in (1, 2, 10_000)} == {0}


def test_timedelta_is_seconds() -> None:
    """A timedelta and its seconds are the same backoff."""
    assert Backoff(first=timedelta(seconds=2), max=timedelta(minutes=5)) == Backoff(first=2, max=300)


@pytest.mark.parametrize(
    ("options", "cure"),
    [
        ({"first": -5}, "0 or more"),
        ({"first": math.nan}, "0 or more"),
        ({"first": "1"}, "write seconds"),
        ({"first": True}, "write seconds"),
        ({"first": 60}, "write Backoff(first=60, max=60)"),
        ({"first": timedelta(minutes=1)}, "write Backoff(first=60, max=60)"),
        ({"first": timedelta.max, "max": timedelta.max}, "ten years"),
        ({"first": 1e300, "factor": 1e300}, "ten years"),
        ({"first": 10**400}, "ten years"),
        ({"max": -1}, "0 or more"),
        ({"max": -(10**400)}, "0 or more"),
        ({"max": 1e18}, "ten years"),
        ({"max": math.inf}, "ten years"),
        ({"max": None}, "write seconds"),
        ({"factor": math.nan}, "1 or more"),
        ({"factor": math.inf}, "1 or more"),
        ({"factor": 0}, "1 or more"),
        ({"factor": 0.5}, "1 or more"),
        ({"factor": "2"}, "write a number"),
        ({"factor": True}, "write a number"),
        ({"jitter": -0.1}, "from 0 to 1"),
        ({"jitter": 1.5}, "from 0 to 1"),
        ({"jitter": math.nan}, "from 0 to 1"),
    ],
)
def test_nonsense_is_refused(options: dict[str, object], cure: str) -> None:
    """Case C29. Waits that shrink, never end or never were are refused, with what to write instead."""
    with pytest.raises(DefinitionError) as refused:
        Backoff(**options)  # type: ignore[arg-type]
    assert cure in str(refused.value)
