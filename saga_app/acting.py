"""How a verb is carried out: lock the row, ask whether it may, change it, and leave word of it, in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID

from django.db import connections, transaction

from saga_app import clock, codec, messages
from saga_app.core import verbs
from saga_app.core.errors import BadChoice, KeyConflict, UnknownExecution, UnsupportedValue, VerbRefused
from saga_app.core.names import closest
from saga_app.core.saga import Saga
from saga_app.core.snapshot import Record, Snapshot
from saga_app.core.verbs import Refused
from saga_app.models import Event, Execution
from saga_app.store import births, changes, events, rows
from saga_app.store.changes import Locked
from saga_app.store.transactions import DatabaseFault, alias, drop_broken_connection

Target = Execution | UUID | str
Work = Callable[[UUID, str, Callable[..., None]], None]

_part_of: ContextVar[Mapping[str, Any]] = ContextVar("saga_part_of", default={})  # noqa: B039 - never changed


@dataclass(frozen=True, slots=True)
class Request:
    """What comes with a verb.

    Attributes:
        verb: which one.
        actor: who asks.
        reason: why.
        version: the version the caller saw; None: any.
        data: what else the history should say.
    """

    verb: str
    actor: Any = None
    reason: str = ""
    version: int | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


def act(execution: Target, request: Request, change: Callable[[Locked], Snapshot]) -> Execution:
    """Carry a verb out that changes the execution.

    Args:
        execution: the execution, or its id.
        request: what is asked.
        change: from the locked facts to those after the verb.

    Returns:
        The execution as it is now.

    Raises:
        UnknownExecution: there is none of that id.
        VerbRefused: the verb may not be used now.
    """

    def work(execution_id: UUID, using: str, note: Callable[[], None]) -> None:
        locked = changes.lock(execution_id, using)
        check(locked, request)
        after = changes.change(locked, change(locked), using)
        note()
        events.append_history(execution_id, locked.facts, after, using, locked.now)

    return carried_out(execution, request, work)


def carried_out(execution: Target, request: Request, work: Work) -> Execution:
    """Do the work of a verb in one transaction. A commit whose answer was lost is looked up by the request's own id.

    Args:
        execution: the execution, or its id.
        request: what is asked.
        work: called with the id, the database alias, and what leaves word of the verb in the history, with more data.

    Returns:
        The execution as it is now.
    """
    using, execution_id = alias(), id_of(execution)
    token = clock.token()
    try:
        with transaction.atomic(using=using):
            work(execution_id, using, partial(_note, execution_id, request, token))
    except DatabaseFault:
        if connections[using].in_atomic_block or not _landed(execution_id, token, using):
            raise
    return found(execution_id)


@contextmanager
def part_of(**what: Any) -> Iterator[None]:
    """Let the history of every verb used inside say what it was part of."""
    token = _part_of.set(what)
    try:
        yield
    finally:
        _part_of.reset(token)


def insert_anew(old: Execution, saga: Saga[Any], request: Request, key: str | None) -> Execution:
    """Insert an execution that does again what an ended one did, with its input; KeyConflict where its key is taken."""
    data = {f"{request.verb}_of": str(old.pk), **request.data}
    options: dict[str, Any] = {"queue": old.queue, "priority": old.priority, "actor": request.actor}
    made, is_new = births.insert(saga, old.input_text, key=key, due=None, data=data, **options)
    if not is_new:
        raise KeyConflict(saga.name, key or "", ["key"])
    made.is_new = True
    return made


def _note(execution_id: UUID, request: Request, token: str, **data: Any) -> None:
    events.append(
        execution_id,
        request.verb,
        alias(),
        actor=request.actor,
        reason=request.reason,
        data={**request.data, **_part_of.get(), **data},
        request_id=token,
    )


def _landed(execution_id: UUID, token: str, using: str) -> bool:
    """Asked under the row lock, which waits for the transaction whose answer was lost (design §7.2)."""
    drop_broken_connection(using)
    try:
        with transaction.atomic(using=using):
            changes.lock_row(execution_id, using)
            return Event.objects.using(using).filter(request_id=token).exists()
    except DatabaseFault:
        return False


def check(locked: Locked, request: Request) -> None:
    """Raise VerbRefused unless the verb may be used now."""
    if request.verb in verbs.REASON_REQUIRED and not request.reason.strip():
        raise refused(Refused("reason_required", {"verb": request.verb}))
    check_version(locked, request)
    answer = verbs.eligibility(request.verb, locked.facts, held=locked.held)
    if isinstance(answer, Refused):
        raise refused(answer)


def check_version(locked: Locked, request: Request) -> None:
    """Raise VerbRefused where the execution is not the one the caller saw."""
    if request.version is not None and request.version != locked.row.version:
        raise refused(Refused("version_changed", _who_was_first(locked, request.version)))


def refused(refusal: Refused) -> VerbRefused:
    """A refusal as an error, with its sentence in the active language."""
    return VerbRefused(refusal.code, refusal.params, messages.sentence(refusal.code, refusal.params))


def _who_was_first(locked: Locked, version: int) -> dict[str, object]:
    params: dict[str, object] = {"seen": version, "now": locked.row.version, "by": "", "verb": "", "seconds": 0}
    last = Event.objects.using(alias()).filter(execution_id=locked.row.pk).exclude(request_id=None).last()
    if last is not None:
        seconds = int((locked.now - last.at).total_seconds())
        params |= {"by": last.actor_name, "verb": last.type, "seconds": seconds}
    return params


def stopped_at(locked: Locked, path: str, code: str) -> Record:
    """The record of that path, which must be what the execution stopped at; else VerbRefused with that code."""
    facts = locked.facts
    if facts.record(path) is None:
        known = [record.path for record in facts.records]
        raise refused(Refused("no_such_step", {"path": path, "nearest": closest(path, known)}))
    record = verbs.stopped_at(facts)
    if record is None or record.path != path:
        raise refused(Refused(code, {"path": path, "stuck_at": record.path if record else ""}))
    return record


def encoded_output(path: str, output: Any) -> str:
    """What an operator says a step returned, encoded, or VerbRefused."""
    try:
        return codec.encode(output, path=path)
    except UnsupportedValue as error:
        raise refused(Refused("output_invalid", {"path": error.path, "reason": error.reason})) from error


def chosen(saga: Saga[Any] | None, path: str, output: Any) -> str:
    """What that output of a compute chooses, or VerbRefused: it has to be what its node can go on with."""
    step = saga.step(path) if saga else None
    if step is None or step.judge is None:
        return ""
    try:
        return step.judge(output)
    except BadChoice as error:
        raise refused(Refused("output_invalid", {"path": path, "reason": str(error)})) from error


def id_of(execution: Target) -> UUID:
    """The id of an execution, or UnknownExecution where it cannot be one."""
    if isinstance(execution, Execution):
        return execution.pk
    try:
        return execution if isinstance(execution, UUID) else UUID(str(execution))
    except ValueError:
        raise UnknownExecution(f"{execution!r} is no id of an execution") from None


def found(execution: Target) -> Execution:
    """The execution as it is now, or UnknownExecution."""
    row = Execution.objects.using(alias()).filter(pk=id_of(execution)).first()
    if row is None:
        raise UnknownExecution(f"no execution has the id {id_of(execution)}")
    return row


def facts_of(row: Execution) -> Snapshot:
    """The picture of an execution, as of the row that was read."""
    return rows.load_facts(rows.columns_of(row), alias())
