"""What begins without a body being called: steps that go to a queue, gates that open, children that are born.

Their arguments are made here; where that runs code of the project, what is known so far is written first.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from saga_app import clock, codec
from saga_app.core.arranging import Call, bound, open_gate, queue_up, spawn
from saga_app.core.changes import advance
from saga_app.core.decisions import Arrange, Decision, Enqueue, Open, Release, Spawn, Tell, UndoChild
from saga_app.core.errors import DefinitionError
from saga_app.core.policy import Policy
from saga_app.core.status import CompensationStatus
from saga_app.store.children import Ask, Birth, Undo
from saga_app.store.transactions import DatabaseFault

if TYPE_CHECKING:
    from saga_app.core.nodes import Child
    from saga_app.core.snapshot import Snapshot
    from saga_app.driving import Drive

POLICY = Policy(attempts=3)


@dataclass(frozen=True, slots=True)
class Begun:
    """What a gate or a child begins with.

    Attributes:
        call: its arguments, where it has some.
        due: when a gate's time is up.
        birth: the child to be born.
    """

    call: Call | None = None
    due: datetime | None = None
    birth: Birth | None = None


def arrange(drive: Drive, after: Snapshot, decision: Arrange) -> None:
    """Write what has begun; as many at once as can be made without running code of the project."""
    x, following = _all_inert(drive, after, decision)
    if x is not after:
        drive.release(x, following) if isinstance(following, Release) else drive.write(x)
    elif after != drive.written:
        drive.write(after)  # flushed before any other user code
    else:
        _made_by_user_code(drive, after, decision)


def _all_inert(drive: Drive, x: Snapshot, decision: Decision) -> tuple[Snapshot, Decision]:
    assert drive.saga is not None  # noqa: S101 - nothing is arranged for a saga that is not known
    while isinstance(decision, Enqueue | Open):
        drive.values.facts = x
        begun = _inert(drive, x, decision)
        if begun is None:
            break
        x = _with(drive, x, decision, begun)
        x, decision = advance(drive.saga, x, drive.claim.moment())
    return x, decision


def _inert(drive: Drive, x: Snapshot, decision: Enqueue | Open) -> Begun | None:
    """What it begins with; None where making that takes user code, or fails."""
    record = x.record(decision.path)
    if isinstance(decision, Enqueue):
        if record is not None and record.arguments_text is not None:
            return Begun()
        node: Any = drive.step(decision.path)
    else:
        node = drive.node(decision.path)
        if node.kind != "sleep":
            return Begun(due=_deadline(drive, node.timeout))
    if not drive.caller.is_inert(node, decision.path):
        return None
    try:
        return _begun(drive, decision)
    except DatabaseFault:
        raise
    except Exception:  # noqa: BLE001 - told as an outcome once there is nothing else left to write
        return None


def _made_by_user_code(drive: Drive, after: Snapshot, decision: Arrange) -> None:
    path, record = decision.path, after.record(decision.path)
    drive.values.facts = after
    policy = drive.step(path).policy if isinstance(decision, Enqueue) else POLICY
    number = (record.attempt if record else 0) + 1
    made = drive.caller.prepared(partial(_begun, drive, decision), path, policy, number)
    if isinstance(made, Begun):
        drive.write(_with(drive, after, decision, made), message=made.birth)
        return
    drive.not_bound(_unbegun(drive, after, decision), made)


def _unbegun(drive: Drive, x: Snapshot, decision: Arrange) -> Snapshot:
    """The picture with the record of what could not begin, so that its failure has a place."""
    now = drive.claim.moment()
    if isinstance(decision, Enqueue):
        return bound(x, drive.step(decision.path), decision.path, None, now)
    if x.record(decision.path) is not None:
        return x  # its attempts count on: each child has a number of its own
    x = open_gate(x, decision.path, drive.node(decision.path).kind, None, None, now)
    return x.with_record(decision.path, attempt=0, attempt_limit=POLICY.attempts)


def _begun(drive: Drive, decision: Arrange) -> Begun:
    """Make what it begins with. Raises whatever filling or encoding its arguments raises."""
    path, caller = decision.path, drive.caller
    if isinstance(decision, Enqueue):
        return Begun(caller.prepare(drive.step(path), path))
    node = drive.node(path)
    if isinstance(decision, Spawn):
        return _birth(drive, node, path)
    arguments = caller.arguments(node, path)
    call = Call(codec.encode(arguments), "")
    return Begun(call, _wakes_at(drive, arguments, path))


def _wakes_at(drive: Drive, arguments: dict[str, Any], path: str) -> datetime:
    """When a sleep is over: so many real seconds from now, or at that moment; a naive one is in the project's zone."""
    if "until" in arguments:
        until = arguments["until"]
        if not isinstance(until, datetime):
            raise DefinitionError(f"`{path}`: until is {until!r}: it has to be a datetime")
        return clock.aware(until)
    delta = arguments["delta"]
    length = delta if isinstance(delta, timedelta) else timedelta(seconds=float(delta))
    return drive.claim.moment() + max(length, timedelta())


def _deadline(drive: Drive, timeout: float | None) -> datetime | None:
    return None if timeout is None else drive.claim.moment() + timedelta(seconds=timeout)


def _birth(drive: Drive, node: Child, path: str) -> Begun:
    saga = node.target
    saga.seal()
    text = codec.encode(saga.accept(drive.caller.arguments(node, path)))
    return Begun(Call(text, ""), birth=Birth(clock.uuid7(), saga, text, path))


def _with(drive: Drive, x: Snapshot, decision: Arrange, begun: Begun) -> Snapshot:
    path, now = decision.path, drive.claim.moment()
    if isinstance(decision, Enqueue):
        return queue_up(x, drive.step(path), path, begun.call, now)
    if begun.birth is not None:
        return spawn(x, path, begun.call, begun.birth.child_id, now)
    return open_gate(x, path, drive.node(path).kind, begun.call, begun.due, now)


def tell(drive: Drive, after: Snapshot, decision: Tell) -> None:
    """Tell a child something, in the transaction that says that it was told."""
    child_id = after.known(decision.path).child_id
    assert child_id is not None  # noqa: S101 - only a child that was born is told something
    if isinstance(decision, UndoChild):
        after = after.with_record(decision.path, compensation_status=CompensationStatus.RUNNING)
        drive.write(after, message=Undo(child_id))
    else:
        drive.write(after, message=Ask(child_id))
