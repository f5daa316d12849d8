"""What a change means to somebody who reads the history of an execution."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from saga_app.core.status import STOPPED, Status

if TYPE_CHECKING:
    from saga_app.core.snapshot import Snapshot


def history(before: Snapshot, after: Snapshot) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events between two pictures, in the order they are told: type and data.

    Attempts are not among them: each step record keeps its own.
    """
    if after.pivoted_at and not before.pivoted_at:
        yield "pivoted", {}
    if after.unwinding_at and not before.unwinding_at:
        yield "unwinding", {"cause": str(after.unwind_cause), "path": after.failing_path}
    if after.status == before.status or after.status not in STOPPED:
        return
    if after.status == Status.STUCK:
        yield "stuck", {"reason": str(after.stuck_reason), "path": after.failing_path}
    elif after.status == Status.SUSPENDED:
        yield "suspended", {"reason": after.suspend_reason}
    else:
        yield str(after.status), {"rollback": str(after.rollback_status)}
