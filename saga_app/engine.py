"""The verbs: what people and programs may do to an execution, one transaction each.

Inside a transaction of the caller's (on the saga tables' database) they happen when it commits, and not when it rolls
back. Each takes `actor` (a user, or None) and, but for start, `reason`; leaves an Event; returns the execution as it is
now. A refused one raises VerbRefused and changes nothing; an id of no execution raises UnknownExecution.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async

from saga_app import acting, clock, codec
from saga_app.acting import Request, Target
from saga_app.answering import approve, reject, signal
from saga_app.core import registry, verbs
from saga_app.core.errors import KeyConflict
from saga_app.core.saga import Saga
from saga_app.core.snapshot import Snapshot
from saga_app.core.start_options import check_start
from saga_app.core.status import TERMINAL, Status
from saga_app.core.unwind import Planned, plan_unwind
from saga_app.core.verbs import Allowed, Eligibility, Refused
from saga_app.forking import fork, move
from saga_app.models import Execution
from saga_app.store import births, changes, events
from saga_app.store.changes import Locked

__all__ = [
    "Allowed",
    "Planned",
    "Refused",
    "aabandon",
    "aapprove",
    "abandon",
    "acancel",
    "afork",
    "amove",
    "approve",
    "areject",
    "arerun",
    "aresolve",
    "aresume",
    "asignal",
    "askip",
    "astart",
    "asuspend",
    "aunwind",
    "await_end",
    "cancel",
    "eligibility",
    "fork",
    "move",
    "plan",
    "reject",
    "rerun",
    "resolve",
    "resume",
    "signal",
    "skip",
    "start",
    "suspend",
    "unwind",
    "wait",
]


def start(
    saga: Saga[Any] | str,
    input: Any = None,
    /,
    *,
    key: str | None = None,
    actor: Any = None,
    queue: str | None = None,
    priority: int = 0,
    due: datetime | None = None,
    **values: Any,
) -> Execution:
    """Start a saga: insert one execution, due at once.

    Args:
        saga: the saga, or the name of its highest revision.
        input: its input as a whole; `values` give it name by name.
        key: names this execution among all of that saga, over all revisions, as long as its row exists.
        actor: who starts it.
        queue: which workers drive it; None: those of the saga's own queue.
        priority: smaller is more urgent.
        due: not before that moment.
        values: the input, name by name, where `input` is not given.

    Returns:
        The execution, with `is_new`: False where the key named one that was started with an equal input.

    Raises:
        UnknownSaga: no saga has that name.
        DefinitionError: the saga cannot run.
        InputError: the input does not fit, naming each field.
        UnsupportedValue: a value of the input cannot be stored, naming its path.
        KeyConflict: the key names an execution with another input.
    """
    saga = registry.latest(saga) if isinstance(saga, str) else saga
    saga.seal()
    check_start(saga.name, key=key, priority=priority, due=due)
    text = codec.encode(saga.accept(input, values))
    found, is_new = births.insert(saga, text, key=key, queue=queue, priority=priority, due=due, actor=actor)
    if not is_new and not codec.same(found.input_text, text):
        raise KeyConflict(saga.name, key or "", codec.differing_paths(found.input_text, text))
    found.is_new = is_new
    return found


def _definition(locked: Locked) -> Saga[Any] | None:
    return registry.get(locked.facts.saga, locked.facts.revision)


def resume(execution: Target, *, actor: Any = None, reason: str = "", version: int | None = None) -> Execution:
    """Try again what stopped, with more attempts; from suspended, only go on; in backoff, do not wait any longer.

    Args:
        execution: the execution, or its id.
        actor: who asks, a user.
        reason: why.
        version: the version the caller saw; refused (`version_changed`) where it has moved on.
    """

    def change(locked: Locked) -> Snapshot:
        return verbs.resume(locked.facts, _definition(locked), locked.now)

    return acting.act(execution, Request("resume", actor, reason, version), change)


def abandon(execution: Target, *, actor: Any = None, reason: str = "", version: int | None = None) -> Execution:
    """End a stuck execution as it is: what is owed and has no outcome becomes `abandoned`. Final; needs a reason."""

    def change(locked: Locked) -> Snapshot:
        return verbs.abandon(locked.facts, _definition(locked), locked.now)

    return acting.act(execution, Request("abandon", actor, reason, version), change)


def unwind(execution: Target, *, actor: Any = None, reason: str = "", version: int | None = None) -> Execution:
    """Begin the unwind of an execution that is stuck before its pivot. Needs its saga: what is owed hangs on it."""

    def change(locked: Locked) -> Snapshot:
        saga = _definition(locked)
        if saga is None:
            raise acting.refused(Refused("unknown_saga"))
        return verbs.unwind(locked.facts, saga, locked.now)

    return acting.act(execution, Request("unwind", actor, reason, version), change)


def cancel(execution: Target, *, actor: Any = None, reason: str = "", version: int | None = None) -> Execution:
    """Ask for the unwind: honoured at the next boundary. Refused past the pivot."""

    def change(locked: Locked) -> Snapshot:
        return verbs.cancel(locked.facts, locked.now, events.readable(reason))

    return acting.act(execution, Request("cancel", actor, reason, version), change)


def suspend(execution: Target, *, actor: Any = None, reason: str = "", version: int | None = None) -> Execution:
    """Ask for a pause at the next boundary; resume ends it."""

    def change(locked: Locked) -> Snapshot:
        return verbs.suspend(locked.facts, locked.now, events.readable(reason))

    return acting.act(execution, Request("suspend", actor, reason, version), change)


def skip(
    execution: Target,
    path: str,
    *,
    happened: bool,
    output: Any = None,
    actor: Any = None,
    reason: str = "",
    version: int | None = None,
) -> Execution:
    """Say what became of the step a forward execution is stuck at, and go on behind it. Needs a reason.

    Args:
        execution: the execution, or its id.
        path: the step's path.
        happened: True: it is completed with `output`, and owed; False: it did nothing, and is not owed.
        output: what the step would have returned.
        actor: who says so, a user.
        reason: how they know.
        version: the version the caller saw.
    """
    text = acting.encoded_output(path, output) if happened else None

    def change(locked: Locked) -> Snapshot:
        record, saga = acting.stopped_at(locked, path, "step_not_stuck"), _definition(locked)
        choice = acting.chosen(saga, path, output) if happened else ""
        return verbs.skip(locked.facts, saga, record, locked.now, happened=happened, output_text=text, choice=choice)

    data = {"path": path, "happened": happened}
    return acting.act(execution, Request("skip", actor, reason, version, data), change)


def resolve(
    execution: Target, path: str, *, actor: Any = None, reason: str = "", version: int | None = None
) -> Execution:
    """Say that the compensation an unwind is stuck at was done by hand; the unwind goes on. Needs a reason."""

    def change(locked: Locked) -> Snapshot:
        return verbs.resolve(locked.facts, acting.stopped_at(locked, path, "nothing_to_resolve"), locked.now)

    return acting.act(execution, Request("resolve", actor, reason, version, {"path": path}), change)


def rerun(execution: Target, *, actor: Any = None, reason: str = "", key: str | None = None) -> Execution:
    """Start the saga of an ended execution again, in its highest revision, with the same input.

    Nothing of the old one changes but its history.

    Returns:
        The new execution.

    Raises:
        InputError: the highest revision takes another input.
    """
    row = acting.found(execution)
    saga = registry.latest(row.saga)
    saga.seal()
    check_start(saga.name, key=key)
    saga.accept(codec.decode(row.input_text))
    request = Request("rerun", actor, reason)
    made: list[Execution] = []

    def work(execution_id: UUID, using: str, note: Callable[..., None]) -> None:
        acting.check(changes.lock(execution_id, using), request)
        made.append(acting.insert_anew(row, saga, request, key))
        note(execution=str(made[-1].pk))

    acting.carried_out(row, request, work)
    return made[-1]


def eligibility(execution: Target) -> dict[str, Eligibility]:
    """Every verb, and whether it may be used on the execution now, or the code why not."""
    row = acting.found(execution)
    facts = acting.facts_of(row)
    return {verb: verbs.eligibility(verb, facts, held=row.lease_holder is not None) for verb in verbs.VERBS}


def plan(execution: Target) -> list[Planned]:
    """What its unwind does, or would do, in order; empty past the pivot, or where its saga is not known here."""
    facts = acting.facts_of(acting.found(execution))
    saga = registry.get(facts.saga, facts.revision)
    return [] if saga is None else list(plan_unwind(saga, facts))


def wait(execution: Target, *, timeout: float = 30.0) -> Execution:
    """Poll until the execution has ended or is stuck, or so many seconds have passed; the execution as it is then."""
    ends, pause = clock.monotonic() + timeout, 0.01
    while True:
        row = acting.found(execution)
        if row.status in TERMINAL or row.status == Status.STUCK or clock.monotonic() >= ends:
            return row
        clock.sleep(min(pause, max(0.0, ends - clock.monotonic())))
        pause = min(pause * 1.5, 0.5)


astart = sync_to_async(start)
aresume = sync_to_async(resume)
aabandon = sync_to_async(abandon)
aunwind = sync_to_async(unwind)
acancel = sync_to_async(cancel)
asuspend = sync_to_async(suspend)
askip = sync_to_async(skip)
aresolve = sync_to_async(resolve)
asignal = sync_to_async(signal)
aapprove = sync_to_async(approve)
areject = sync_to_async(reject)
arerun = sync_to_async(rerun)
afork = sync_to_async(fork)
amove = sync_to_async(move)
await_end = sync_to_async(wait)
