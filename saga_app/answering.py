"""How signals and decisions come in: each is judged at the door, so that what is stored is what was meant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import QuerySet

from saga_app import acting, clock, codec
from saga_app.acting import Request, Target
from saga_app.core import addressing, registry
from saga_app.core.answers import Decision
from saga_app.core.approvals import Approval
from saga_app.core.binding import fill
from saga_app.core.errors import InputError, UnsupportedValue, VerbRefused
from saga_app.core.saga import Saga
from saga_app.core.sealing import Input, declared_input
from saga_app.core.snapshot import Record, Snapshot
from saga_app.core.start_options import check_signal
from saga_app.core.status import TERMINAL
from saga_app.core.verbs import Refused
from saga_app.models import Event, Execution, StepRecord
from saga_app.store import changes, events, rows, signals
from saga_app.store.changes import Locked
from saga_app.store.leases import Lease
from saga_app.store.signals import MOST_UNREAD, Arrival
from saga_app.store.transactions import alias
from saga_app.values import Values

T = TypeVar("T")

VERDICTS = {"approve": "approved", "reject": "rejected"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What somebody says at an approval.

    Attributes:
        gate: the approval's name, or its path.
        values: what they filled in.
        key: names this answer among those at that gate.
    """

    gate: str
    values: Mapping[str, Any] | None = None
    key: str | None = None


def signal(
    execution: Target, name: str, payload: Any = None, *, key: str | None = None, actor: Any = None, reason: str = ""
) -> Execution:
    """Send a signal. It is kept until a gate asks for it, first in first out, and opens one gate, once.

    Args:
        execution: the execution, or its id.
        name: the signal's name, or the path of the one gate it is meant for.
        payload: what the gate provides then.
        key: names it among the signals of that name: sent again, it is stored once (`is_new` says whether it was).
        actor: who sends it, a user.
        reason: why.
    """
    events.check_actor(actor)
    arrival = Arrival(name, codec.encode(payload, path="payload"), key, sender=actor)
    came: list[bool] = []

    def work(execution_id: UUID, using: str, note: Callable[[], None]) -> None:
        row = changes.lock_row(execution_id, using)
        check_signal(row.saga, name=name, key=key)
        if signals.known(execution_id, name, key, using) is not None:
            return
        _check_open(row)
        if row.unread >= MOST_UNREAD:
            raise acting.refused(Refused("too_many_signals", {"count": row.unread}))
        _check_name(row, name, using)
        signals.insert(execution_id, arrival, using)
        came.append(True)
        note()

    found = acting.carried_out(execution, Request("signal", actor, reason, data={"name": name}), work)
    found.is_new = bool(came)
    return found


def approve(
    execution: Target,
    gate: str,
    *,
    actor: Any,
    reason: str = "",
    values: Mapping[str, Any] | None = None,
    key: str | None = None,
    version: int | None = None,
) -> Execution:
    """Approve at an approval that is open. Refused to who may not, too late, and twice; then the gate stays as it is.

    Args:
        execution: the execution, or its id.
        gate: the approval's name, or its path.
        actor: who decides, a user.
        reason: why.
        values: what the approval's `input=` asks for.
        key: names this decision: made again, it is stored once.
        version: the version the caller saw.
    """
    return _decide(execution, Answer(gate, values, key), Request("approve", actor, reason, version, {"gate": gate}))


def reject(
    execution: Target,
    gate: str,
    *,
    actor: Any,
    reason: str = "",
    values: Mapping[str, Any] | None = None,
    key: str | None = None,
    version: int | None = None,
) -> Execution:
    """Reject at an approval that is open; otherwise as `approve`. What it asks to be filled in may be left out."""
    return _decide(execution, Answer(gate, values, key), Request("reject", actor, reason, version, {"gate": gate}))


def _check_open(row: Execution) -> None:
    if row.status in TERMINAL:
        raise acting.refused(Refused("terminal", {"status": row.status}))


def _check_name(row: Execution, name: str, using: str) -> None:
    """Refuse what no gate of the saga will ever ask for: it is misspelt. One not known here may ask for anything."""
    saga = registry.get(row.saga, row.revision)
    if saga is not None and addressing.misdirected(saga, name, ()) is not None:
        _let_through(addressing.misdirected(saga, name, rows.load_records(row.pk, using)))


def _let_through(found: T | Refused) -> T:
    if isinstance(found, Refused):
        raise acting.refused(found)
    return found


def _decide(execution: Target, answer: Answer, request: Request) -> Execution:
    """Store a decision, if whoever makes it may, and it is made in time.

    Who may is asked before the row is locked, since that is code of the project; all else is looked at again under it.
    """
    events.check_actor(request.actor)
    row = acting.found(execution)
    check_signal(row.saga, name=answer.gate, key=answer.key)
    saga, node = _place(row, answer.gate)
    facts = acting.facts_of(row)
    if _is_repeated(row.pk, facts, answer, request):
        row.is_new = False
        return row
    record = _open(row, facts, answer.gate)
    _check_actor(node, row, answer.gate, request.actor)
    if node.allow is not None and not _allowed(saga, node, row, facts, record.path, request.actor):
        raise acting.refused(Refused("not_permitted", {"gate": answer.gate}))
    filled = _filled(saga, node, answer, request)
    came: list[bool] = []

    def work(execution_id: UUID, using: str, note: Callable[[], None]) -> None:
        locked = changes.lock_alone(execution_id, using)
        if _is_repeated(execution_id, locked.facts, answer, request):
            return
        _check_open(locked.row)
        acting.check_version(locked, request)
        gate = _let_through(addressing.open_approval(locked.facts, record.path))  # and no other of that name
        _store(locked, gate, answer, _told(locked, filled, request), request, using)
        came.append(True)
        note()

    found = acting.carried_out(row, request, work)
    found.is_new = bool(came)
    return found


def refusal(execution: Target, gate: str, actor: Any) -> Refused | None:
    """Why that person could not decide there now, if they cannot. The approval's `allow=` is asked when they do."""
    row = acting.found(execution)
    try:
        _open(row, acting.facts_of(row), gate)
        _check_actor(_place(row, gate)[1], row, gate, actor)
    except VerbRefused as refused:
        return Refused(refused.code, refused.params)
    return None


def _place(row: Execution, gate: str) -> tuple[Saga[Any], Approval]:
    saga = registry.get(row.saga, row.revision)
    if saga is None:
        raise acting.refused(Refused("unknown_saga"))
    return saga, _let_through(addressing.approval_at(saga, gate))


def _open(row: Execution, facts: Snapshot, gate: str) -> Record:
    _check_open(row)
    return _let_through(addressing.open_approval(facts, gate))


def _is_repeated(execution_id: UUID, x: Snapshot, answer: Answer, request: Request) -> bool:
    """Whether this very answer, by its key, is stored already: it came twice."""
    if answer.key is None:
        return False
    paths = [one.path for one in x.records if answer.gate in (one.path, one.name)]
    said = [signals.known(execution_id, path, answer.key, alias()) for path in paths]
    return any(one is not None and one.verdict == VERDICTS[request.verb] for one in said)


def _check_actor(node: Approval, row: Execution, gate: str, actor: Any) -> None:
    """Refuse who may not decide here: without the permission, or as the one who started it."""
    if actor is None or (node.permission is not None and not actor.has_perm(node.permission)):
        raise acting.refused(Refused("not_permitted", {"gate": gate}))
    starter = getattr(start_of(row), "actor_id", None) if node.four_eyes else None
    if starter is not None and str(starter) == str(actor.pk):
        raise acting.refused(Refused("four_eyes", {"gate": gate}))


def _allowed(saga: Saga[Any], node: Approval, row: Execution, x: Snapshot, path: str, actor: Any) -> bool:
    """What the saga's own function says; it sees what any call at that place sees."""
    at = clock.monotonic()
    look = _Look(
        execution_id=row.pk,
        using=alias(),
        epoch=row.epoch,
        holder="",
        now=clock.now(),
        at=at,
        lease_ends=at,
        stored_input=row.input_text,
    )
    function: Callable[..., Any] = node.allow  # type: ignore[assignment]
    return bool(function(**fill(saga.allow_call(node), Values(look, x).at(path), ctx=None, given={"actor": actor})))


class _Look(Lease):
    """Somebody looks at an execution and drives nothing."""

    def step(self, path: str) -> QuerySet[StepRecord]:
        """No record is theirs."""
        return StepRecord.objects.none()


def start_of(row: Execution) -> Event | None:
    """Who started it, and when; of a child, who started the execution whose child it is."""
    while row.parent_id is not None:
        row = acting.found(row.parent_id)
    return Event.objects.using(alias()).of("start").filter(execution_id=row.pk).first()


@lru_cache(maxsize=256)
def asked(saga: Saga[Any], node: Approval) -> Input | None:
    """What somebody fills in at an approval; None: nothing. Its doors convert with it, and it knows its own again."""
    return None if node.input is None else declared_input(saga.name, node.input)


def _filled(saga: Saga[Any], node: Approval, answer: Answer, request: Request) -> Any:
    """What was filled in, checked. Who rejects need not fill in anything."""
    wanted = asked(saga, node)
    if wanted is None:
        if answer.values:
            raise _does_not_fit(answer, dict.fromkeys(answer.values, "is not asked for here"))
        return None
    if request.verb == "reject" and not answer.values:
        return None
    try:
        filled = wanted.build(wanted.accept(answer.values or {}))
        codec.encode(filled, path="input")
    except InputError as error:
        raise _does_not_fit(answer, error.errors) from error
    except UnsupportedValue as error:
        raise _does_not_fit(answer, {error.path: error.reason}) from error
    return filled


def _does_not_fit(answer: Answer, errors: Mapping[str, str]) -> Exception:
    problems = "; ".join(f"{name}: {text}" for name, text in errors.items())
    return acting.refused(Refused("input_invalid", {"gate": answer.gate, "errors": dict(errors), "problems": problems}))


def _told(locked: Locked, filled: Any, request: Request) -> str:
    """The decision as the gate provides it, encoded."""
    approved, reason = request.verb == "approve", events.readable(request.reason)
    name = str(request.actor.get_username())
    told = Decision(approved=approved, actor=name, reason=reason, input=filled, at=locked.now)
    return codec.encode(told, path="decision")


def _store(locked: Locked, record: Record, answer: Answer, text: str, request: Request, using: str) -> None:
    """Store it; then see when it came: one that is late is taken back with the transaction."""
    known = signals.known(locked.row.pk, record.path, answer.key, using)
    if known is not None:  # of before the gate was opened again
        raise acting.refused(Refused("decided", {"gate": record.path, "verdict": known.verdict}))
    arrival = Arrival(record.path, text, answer.key, VERDICTS[request.verb], request.actor)
    stored = signals.insert(locked.row.pk, arrival, using)
    if record.due_at is not None and signals.received_at(stored, using) > record.due_at:
        raise acting.refused(Refused("too_late", {"gate": record.path, "until": addressing.until(record)}))
