"""What a drive does to one child of its execution, in the transaction of its own write (design §7.5, §9.7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from saga_app.core import family, verbs
from saga_app.core.snapshot import Kid
from saga_app.core.status import Status
from saga_app.store import births, changes, events, rows

if TYPE_CHECKING:
    from saga_app.core.saga import Saga
    from saga_app.core.snapshot import Snapshot
    from saga_app.store.claims import Claim


@dataclass(frozen=True, slots=True)
class Birth:
    """The child is born.

    Attributes:
        child_id: its id, which the parent's record has too.
        saga: what it runs.
        input_text: with which input, encoded.
        path: of the parent's record.
    """

    child_id: UUID
    saga: Saga[Any]
    input_text: str
    path: str


@dataclass(frozen=True, slots=True)
class Ask:
    """It is asked to cancel itself."""

    child_id: UUID


@dataclass(frozen=True, slots=True)
class Undo:
    """It, which had ended well, begins its own unwind."""

    child_id: UUID


Message = Birth | Ask | Undo


def tell(claim: Claim, x: Snapshot, message: Message) -> Snapshot:
    """Carry a message out; the picture with the child as it is then.

    The execution's own row is locked already, as the order of locks wants it. What a child would refuse it is not told:
    the picture shows why.
    """
    child_id = message.child_id
    match message:
        case Birth():
            births.bear(claim, x, message)
            return x.but(kids={**x.kids, child_id: Kid(saga=message.saga.name, status=Status.PENDING)})
        case Ask():
            _ask(claim, x, child_id)
        case Undo():
            _undo(claim, child_id)
    return x.but(kids={**x.kids, **rows.load_kids([child_id], claim.using)})


def _ask(claim: Claim, x: Snapshot, child_id: UUID) -> None:
    """Ask it to cancel itself, unless a cancel would be refused."""
    locked = changes.lock_alone(child_id, claim.using)
    if not verbs.eligibility("cancel", locked.facts, held=locked.held):
        return
    reason = f"its parent {x.saga} goes back" + (f": {x.cancel_reason}" if x.cancel_requested_at else "")
    after = changes.write(locked, verbs.cancel(locked.facts, locked.now, reason), claim.using)
    events.append(child_id, "cancel", claim.using, reason=reason, data={"parent": str(claim.execution_id)})
    events.append_history(child_id, locked.facts, after, claim.using, locked.now)


def _undo(claim: Claim, child_id: UUID) -> None:
    """Begin its unwind, if it has ended well and can be undone."""
    locked = changes.lock_alone(child_id, claim.using)
    after = family.undo_child(locked.facts, locked.now)
    if after is not locked.facts:
        after = changes.write(locked, after, claim.using)
        events.append_history(child_id, locked.facts, after, claim.using, locked.now)
