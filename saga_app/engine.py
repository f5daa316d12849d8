"""The verbs: what people and programs may do to an execution, one transaction each.

Inside a transaction of the caller's (on the saga tables' database) they happen when it commits, and not when it rolls
back. Every verb takes `actor` (a user, or None) and `reason`, leaves an Event in the same transaction, and returns
the execution as it is now. A refused verb raises VerbRefused and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db import connections, transaction

from saga_app import clock, codec, messages
from saga_app.core import registry, verbs
from saga_app.core.errors import InputError, KeyConflict, UnknownExecution, UnknownSaga, UnsupportedValue, VerbRefused
from saga_app.core.names import nearest
from saga_app.core.saga import Saga
from saga_app.core.snapshot import Record, Snapshot
from saga_app.core.unwind import Planned, plan_unwind
from saga_app.core.verbs import Allowed, Eligibility, Refused
from saga_app.models import Event, Execution
from saga_app.store import births, changes, events, rows
from saga_app.store.changes import Locked
from saga_app.store.transactions import DatabaseFault, alias, drop_broken_connection

__all__ = [
    "Allowed",
    "Refused",
    "aabandon",
    "abandon",
    "acancel",
    "arerun",
    "aresolve",
    "aresume",
    "askip",
    "astart",
    "asuspend",
    "aunwind",
    "await_end",
    "cancel",
    "eligibility",
    "plan",
    "rerun",
    "resolve",
    "resume",
    "skip",
    "start",
    "suspend",
    "unwind",
    "wait",
]

LONGEST_KEY = 255
Target = Execution | UUID | str


def start(  # noqa: PLR0913 - the options of a start
    saga: Saga[Any] | str,
    input: Any = None,  # noqa: A002 - the word of the design
    /,
    *,
    key: str | None = None,
    actor: Any = None,
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
        priority: smaller is more urgent.
        due: not before that moment.

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
    _check_key(saga, key)
    text = codec.encode(saga.accept(input, values))
    found, is_new = births.insert(saga, text, key=key, priority=priority, due=due, actor=actor)
    if not is_new and not codec.same(found.input_text, text):
        raise KeyConflict(saga.name, key or "", codec.differing_paths(found.input_text, text))
    found.is_new = is_new
    return found


def _check_key(saga: Saga[Any], key: str | None) -> None:
    if key is None:
        return
    problem = "must be a text" if not isinstance(key, str) else ""
    problem = problem or ("must not be empty; leave it out" if not key else "")
    problem = problem or (f"is longer than {LONGEST_KEY} characters" if len(key) > LONGEST_KEY else "")
    unstorable = not problem and ("\x00" in key or any("\ud800" <= letter <= "\udfff" for letter in key))
    problem = problem or ("has a NUL or a lone surrogate, which no database stores" if unstorable else "")
    if problem:
        raise InputError(saga.name, {"key": problem})


def resume(execution: Target, *, actor: Any = None, reason: str = "", version: int | None = None) -> Execution:
    """Try again what stopped, with more attempts; from suspended, only go on; in backoff, not wait any longer.

    Args:
        execution: the execution, or its id.
        actor: who asks.
        reason: why.
        version: the version the caller saw; refused (`version_changed`) where it has moved on.
    """

    def act(locked: Locked) -> Snapshot:
        facts = locked.facts
        return verbs.resume(facts, registry.get(facts.saga, facts.revision), locked.now)

    return _act("resume", execution, _Request(actor, reason, version), act)


def abandon(execution: Target, *, actor: Any = None, reason: str = "", version: int | None = None) -> Execution:
    """End a stuck execution as it is: what is owed and has no outcome becomes `abandoned`. Final; needs a reason."""

    def act(locked: Locked) -> Snapshot:
        facts = locked.facts
        return verbs.abandon(facts, registry.get(facts.saga, facts.revision), locked.now)

    return _act("abandon", execution, _Request(actor, reason, version), act)


def unwind(execution: Target, *, actor: Any = None, reason: str = "", version: int | None = None) -> Execution:
    """Begin the unwind of an execution that is stuck before its pivot."""

    def act(locked: Locked) -> Snapshot:
        facts = locked.facts
        return verbs.unwind(facts, registry.get(facts.saga, facts.revision), locked.now)

    return _act("unwind", execution, _Request(actor, reason, version), act)


def cancel(execution: Target, *, actor: Any = None, reason: str = "", version: int | None = None) -> Execution:
    """Ask for the unwind: honoured at the next boundary. Refused past the pivot."""
    return _act(
        "cancel",
        execution,
        _Request(actor, reason, version),
        lambda locked: verbs.cancel(locked.facts, locked.now, _readable(reason)),
    )


def suspend(execution: Target, *, actor: Any = None, reason: str = "", version: int | None = None) -> Execution:
    """Ask for a pause at the next boundary; resume ends it."""
    return _act(
        "suspend",
        execution,
        _Request(actor, reason, version),
        lambda locked: verbs.suspend(locked.facts, locked.now, _readable(reason)),
    )


def skip(  # noqa: PLR0913 - the options of a verb
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
        actor: who says so.
        reason: how they know.
        version: the version the caller saw.
    """
    text = _output(path, output) if happened else None
    request = _Request(actor, reason, version, {"path": path, "happened": happened})

    def act(locked: Locked) -> Snapshot:
        record = _stopped_at(locked, path, "step_not_stuck")
        return verbs.skip(locked.facts, record, locked.now, happened=happened, output_text=text)

    return _act("skip", execution, request, act)


def resolve(
    execution: Target, path: str, *, actor: Any = None, reason: str = "", version: int | None = None
) -> Execution:
    """Say that the compensation an unwind is stuck at was done by hand; the unwind goes on. Needs a reason."""

    def act(locked: Locked) -> Snapshot:
        return verbs.resolve(locked.facts, _stopped_at(locked, path, "nothing_to_resolve"), locked.now)

    return _act("resolve", execution, _Request(actor, reason, version, {"path": path}), act)


def rerun(execution: Target, *, actor: Any = None, reason: str = "", key: str | None = None) -> Execution:
    """Start the saga of an ended execution again, with the same input. Nothing of the old one changes.

    Returns:
        The new execution.
    """
    row = _found(execution)
    saga = registry.latest(row.saga)
    saga.seal()
    _check_key(saga, key)
    with transaction.atomic(using=alias()):
        locked = changes.lock(row.pk, alias())
        _check("rerun", locked, None, reason)
        data = {"rerun_of": str(row.pk)}
        made, is_new = births.insert(
            saga, row.input_text, key=key, priority=row.priority, due=None, actor=actor, data=data
        )
        if not is_new:
            raise KeyConflict(saga.name, key or "", codec.differing_paths(made.input_text, row.input_text) or ["key"])
        events.append(row.pk, "rerun", alias(), actor=actor, reason=reason, data={"execution": str(made.pk)})
    made.is_new = True
    return made


def eligibility(execution: Target) -> dict[str, Eligibility]:
    """Every verb, and whether it may be used on the execution now, or the code why not."""
    row = _found(execution)
    facts = _facts(row)
    return {verb: verbs.eligibility(verb, facts, held=row.lease_holder is not None) for verb in verbs.VERBS}


def plan(execution: Target) -> list[Planned]:
    """What its unwind does, or would do, in order; empty past the pivot, or where its saga is not known here."""
    facts = _facts(_found(execution))
    saga = registry.get(facts.saga, facts.revision)
    return [] if saga is None else list(plan_unwind(saga, facts))


def wait(execution: Target, *, timeout: float = 30.0) -> Execution:
    """Poll until the execution has ended or stopped, or so many seconds have passed; the execution as it is then."""
    ends, pause = clock.monotonic() + timeout, 0.01
    while True:
        row = _found(execution)
        if row.status in verbs.TERMINAL or row.status == "stuck" or clock.monotonic() >= ends:
            return row
        clock.sleep(min(pause, max(0.0, ends - clock.monotonic())))
        pause = min(pause * 1.5, 0.5)


@dataclass(frozen=True, slots=True)
class _Request:
    """What comes with a verb."""

    actor: Any
    reason: str
    version: int | None
    data: Mapping[str, Any] | None = None


def _act(verb: str, execution: Target, request: _Request, act: Callable[[Locked], Snapshot]) -> Execution:
    """Lock, ask, change, and leave word of it, in one transaction; then the execution as it is now."""
    using, execution_id = alias(), _id(execution)
    token = clock.token()
    try:
        with transaction.atomic(using=using):
            locked = changes.lock(execution_id, using)
            _check(verb, locked, request.version, request.reason)
            after = act(locked)
            changes.change(locked, after, using)
            _note(verb, execution_id, request, token)
    except DatabaseFault:
        if connections[using].in_atomic_block or not _landed(token, using):
            raise
    return _found(execution_id)


def _note(verb: str, execution_id: UUID, request: _Request, token: str) -> None:
    events.append(
        execution_id,
        verb,
        alias(),
        actor=request.actor,
        reason=request.reason,
        data=request.data,
        request_id=token,
    )


def _landed(token: str, using: str) -> bool:
    """Whether a verb whose commit was in doubt is in the table: its event carries the request's own id."""
    drop_broken_connection(using)
    try:
        return Event.objects.using(using).filter(request_id=token).exists()
    except DatabaseFault:
        return False


def _check(verb: str, locked: Locked, version: int | None, reason: str) -> None:
    """Raise VerbRefused unless the verb may be used now."""
    if verb in verbs.REASON_REQUIRED and not reason.strip():
        raise refusal(Refused("reason_required", {"verb": verb}))
    if version is not None and version != locked.row.version:
        raise refusal(Refused("version_changed", _who_was_first(locked, version)))
    answer = verbs.eligibility(verb, locked.facts, held=locked.held)
    if isinstance(answer, Refused):
        raise refusal(answer)


def refusal(refused: Refused) -> VerbRefused:
    """A refusal as an error, with its sentence in the active language."""
    return VerbRefused(refused.code, refused.params, messages.sentence(refused.code, refused.params))


def _who_was_first(locked: Locked, version: int) -> dict[str, object]:
    params: dict[str, object] = {"seen": version, "now": locked.row.version, "by": "", "verb": "", "seconds": 0}
    last = Event.objects.using(alias()).filter(execution_id=locked.row.pk).exclude(request_id=None).last()
    if last is not None:
        seconds = int((locked.now - last.at).total_seconds())
        params |= {"by": last.actor_name, "verb": last.type, "seconds": seconds}
    return params


def _stopped_at(locked: Locked, path: str, code: str) -> Record:
    record = verbs.stopped_at(locked.facts)
    if locked.facts.record(path) is None:
        known = [record.path for record in locked.facts.records]
        raise refusal(Refused("no_such_step", {"path": path, "nearest": nearest(path, known)}))
    if record is None or record.path != path:
        raise refusal(Refused(code, {"path": path, "stuck_at": record.path if record else ""}))
    return record


def _output(path: str, output: Any) -> str:
    try:
        return codec.encode(output, path=path)
    except UnsupportedValue as error:
        raise refusal(Refused("output_invalid", {"path": error.path, "reason": error.reason})) from error


def _readable(reason: str) -> str:
    return reason.replace("\x00", "\\x00")


def _id(execution: Target) -> UUID:
    if isinstance(execution, Execution):
        return execution.pk
    try:
        return execution if isinstance(execution, UUID) else UUID(str(execution))
    except ValueError:
        raise UnknownExecution(f"{execution!r} is no id of an execution") from None


def _found(execution: Target) -> Execution:
    row = Execution.objects.using(alias()).filter(pk=_id(execution)).first()
    if row is None:
        raise UnknownExecution(f"no execution has the id {_id(execution)}")
    return row


def _facts(row: Execution) -> Snapshot:
    return rows.snapshot(rows.columns_of(row), rows.load_records(row.pk, alias()))


astart = sync_to_async(start)
aresume = sync_to_async(resume)
aabandon = sync_to_async(abandon)
aunwind = sync_to_async(unwind)
acancel = sync_to_async(cancel)
asuspend = sync_to_async(suspend)
askip = sync_to_async(skip)
aresolve = sync_to_async(resolve)
arerun = sync_to_async(rerun)
await_end = sync_to_async(wait)
