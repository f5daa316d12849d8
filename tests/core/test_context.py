"""The context: what a body can ask, and how it tells its progress."""

from __future__ import annotations

import dataclasses
import math
from uuid import UUID

import pytest

from saga_app import Context


def context(**options: object) -> Context:
    words = {"execution_id": UUID(int=1), "saga": "s", "path": "a", "attempt": 1, "idempotency_key": "k", **options}
    return Context(**words)  # type: ignore[arg-type]


def test_a_context_cannot_be_changed() -> None:
    """A body cannot spoil it for the next call."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        context().attempt = 2  # type: ignore[misc]


def test_cancel_requested_is_asked_each_time() -> None:
    """A long body sees a cancel that comes while it runs."""
    answers = iter([False, True])
    ctx = context(ask_cancelled=lambda: next(answers))
    assert (ctx.cancel_requested, ctx.cancel_requested) == (False, True)
    assert context().cancel_requested is False


@pytest.mark.parametrize(
    ("fraction", "told"), [(0.5, 0.5), (0, 0.0), (1, 1.0), (7, 1.0), (-1, 0.0), (math.nan, 0.0), (math.inf, 1.0)]
)
def test_progress_is_between_0_and_1(fraction: float, told: float) -> None:
    """A figure outside never fails the body that tells it."""
    heard: list[tuple[float, str]] = []
    context(tell_progress=lambda *words: heard.append(words)).progress(fraction, "half")
    context().progress(fraction)
    assert heard == [(told, "half")]
