"""What outsiders can listen to. It is told after commit, and whatever they do with it cannot harm the engine."""

from __future__ import annotations

from django.dispatch import Signal

__all__ = ["execution_changed"]

execution_changed = Signal()
"""Sent after commit with `execution_id` (UUID), `saga` (name) and `event`: pivoted, unwinding, suspended, stuck,
completed, failed or cancelled. Verbs are not told, only what becomes of them. A receiver that raises is logged, and
otherwise ignored."""
