"""How a node begins, goes on and opens: the rules of one record, wherever in the tree it stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from saga_app.core.decisions import CallAtomic, Decision, Enqueue, FailStep, Intend, Reconcile, Stick
from saga_app.core.status import StepStatus, StuckReason

if TYPE_CHECKING:
    from saga_app.core.nodes import Node
    from saga_app.core.saga import Saga
    from saga_app.core.snapshot import Record, Signal, Snapshot
    from saga_app.core.steps import Step


def begin(x: Snapshot, step: Step[..., Any], path: str, *, queued: bool) -> Decision:
    """An atomic step needs no intent, unless workers have died here: then its attempt is counted first."""
    if queued:
        return Enqueue(path)
    return CallAtomic(path) if step.atomic and x.deaths <= 1 else Intend(path)


def opened(saga: Saga[Any], x: Snapshot, step: Step[..., Any], record: Record, *, queued: bool) -> Decision:
    """A call that has begun and not ended. `running` means here: orphaned or timed out, so its outcome is unknown."""
    if record.status != StepStatus.RUNNING:
        return begin(x, step, record.path, queued=queued)
    if step.reconciler and not record.reconciled:
        return Reconcile(record.path)
    if record.attempt < record.attempt_limit:
        return Enqueue(record.path) if queued else Intend(record.path)
    last_word = x.pivoted_at is not None or saga.before_pivot(record.path)
    if last_word and step.required and not step.atomic and not step.pure:
        return Stick(StuckReason.OUTCOME_UNKNOWN, record.path)  # nothing is guessed where nothing can be undone
    return FailStep(record.path)


def opens(node: Any, record: Record, signal: Signal, saga: Saga[Any]) -> bool:
    """Whether that signal opens that gate: it came in time, and means this gate. An approval wants a verdict."""
    if node.kind == "sleep" or (record.due_at is not None and signal.received_at > record.due_at):
        return False
    if node.kind == "approval":
        return bool(signal.verdict) and signal.name == record.path
    return signal.name == record.path or (signal.name == node.signal and not only_by_path(saga, record.path))


def only_by_path(saga: Saga[Any], path: str) -> bool:
    """A gate for each item of a concurrent loop: its signal's name alone would not say which is meant."""
    place = saga.place(path)
    return place is not None and any(label is None for _, label in place.lanes)


def after_gate(node: Any, record: Record) -> Sequence[Node]:
    """The nodes that follow on how a gate has ended."""
    if record.choice == "timeout" and node.kind != "sleep":
        return node.on_timeout if not isinstance(node.on_timeout, str) else ()
    if record.choice == "rejected":
        return node.on_reject if not isinstance(node.on_reject, str) else ()
    return ()
