"""How an execution stands, read afresh from the tables, in the words of the cases."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from django.db.models import Q

from saga_app import messages
from saga_app.core.failures import ErrorInfo
from saga_app.models import Event, Execution, Signal, StepRecord
from saga_app.store.transactions import alias

# the end of an execution: status, rollback_status, stuck_reason
DONE, UNWOUND, NOTHING_OWED = ("completed", "", ""), ("failed", "completed", ""), ("failed", "not_applicable", "")
CANCELLED, ABANDONED = ("cancelled", "completed", ""), ("failed", "abandoned", "")


def held(reason: str) -> tuple[str, str, str]:
    """Stuck, and no unwind has begun."""
    return ("stuck", "", reason)


def halted(reason: str) -> tuple[str, str, str]:
    """The unwind has stopped."""
    return ("stuck", "stuck", reason)


def now(x: Execution) -> Execution:
    """The execution."""
    return Execution.objects.using(alias()).get(pk=x.pk)


def end(x: Execution) -> tuple[str, str, str]:
    """How it stands: (status, rollback_status, stuck_reason)."""
    found = now(x)
    return found.status, found.rollback_status, found.stuck_reason


def records(x: Execution) -> list[StepRecord]:
    """Its step records, in the order they started."""
    return list(StepRecord.objects.using(alias()).filter(execution_id=x.pk).order_by("seq"))


def rec(x: Execution, name: str) -> StepRecord:
    """Its step record, by name or path."""
    return StepRecord.objects.using(alias()).get(Q(name=name) | Q(path=name), execution_id=x.pk)


def outcomes(x: Execution) -> dict[str, str]:
    """{name: compensation_status} of the records that had a handler; by path where a name ran more than once."""
    found = records(x)
    names = [one.name for one in found]
    return {one.path if names.count(one.name) > 1 else one.name: one.compensation_status for one in found if one.owes}


def events(x: Execution, *types: str) -> list[Event]:
    """Its history, oldest first."""
    found = Event.objects.using(alias()).filter(execution_id=x.pk).order_by("id")
    return list(found.filter(type__in=types) if types else found)


def error(x: Execution, name: str) -> str:
    """The stored error of that step, as text: its class, what it says, and its notes."""
    return _said(rec(x, name).error)


def why(x: Execution) -> str:
    """What an operator is told: the cause and, if stuck, the reason and what to do about it."""
    found = now(x)
    told = [_said(found.error), found.cancel_reason]
    if found.failing_path:
        told.append(_said(rec(x, found.failing_path).compensation_error))
    if found.stuck_reason:
        told += [found.saga, str(found.revision)] if found.stuck_reason.startswith("definition") else []
        told += [messages.reason_word(found.stuck_reason), messages.cure(found.stuck_reason)]
    return "\n".join(part for part in told if part)


def _said(info: ErrorInfo | None) -> str:
    return "" if info is None else "\n".join([f"{info.type}: {info.message}", *info.notes])


def rows_of(x: Execution) -> dict[str, list[dict[str, Any]]]:
    """Every row of x but its events, as values."""
    rows = {
        "execution": Execution.objects.using(alias()).filter(pk=x.pk),
        "steps": StepRecord.objects.using(alias()).filter(execution_id=x.pk).order_by("seq"),
        "signals": Signal.objects.using(alias()).filter(execution_id=x.pk).order_by("id"),
    }
    return {name: list(found.values()) for name, found in rows.items()}


def bytes_in_database(x: Execution) -> int:
    """How long all its stored texts are, events included."""
    rows = [row for found in rows_of(x).values() for row in found]
    rows += Event.objects.using(alias()).filter(execution_id=x.pk).values()
    return sum(len(value) for row in rows for value in row.values() if isinstance(value, str))


def waiting_at(x: Execution) -> str:
    """The name of the gate it waits at; of several the first, and nothing where it waits at none."""
    gates = ("wait", "approval", "sleep")
    return next((one.name for one in records(x) if one.kind in gates and one.status == "waiting"), "")


def children(x: Execution) -> list[Execution]:
    """Its child executions, in the order they were born."""
    return list(Execution.objects.using(alias()).filter(parent_id=x.pk).order_by("id"))


def child(x: Execution, name: str) -> Execution:
    """Its child execution of that saga."""
    return Execution.objects.using(alias()).get(parent_id=x.pk, saga=name)


def failed_steps(x: Execution) -> list[StepRecord]:
    """The records of those of its steps that failed."""
    return [one for one in records(x) if one.status == "failed"]


def same(a: Any, b: Any) -> bool:
    """Equal, and of the same types all the way down."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        pairs = zip(a.items(), b.items(), strict=False)
        return len(a) == len(b) and all(same(k, q) and same(v, w) for (k, v), (q, w) in pairs)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(same(v, w) for v, w in zip(a, b, strict=False))
    if is_dataclass(a):
        return all(same(getattr(a, one.name), getattr(b, one.name)) for one in fields(a))
    if isinstance(a, set | frozenset):
        return a == b and {type(v) for v in a} == {type(v) for v in b}
    return bool(a == b)
