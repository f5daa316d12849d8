"""What stands around one execution: what it waits for, its parent, its children, and the signals that came for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count
from django.db.models.functions import Left, Length
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from saga_app import awaiting, messages
from saga_app.admin.values import MAX_VALUE, value
from saga_app.awaiting import APPROVAL, ATTEMPT, CALL, CHILD, SIGNAL, SLEEP, WORKER, Awaited
from saga_app.core.failures import readable
from saga_app.models import Execution, Signal
from saga_app.store.transactions import alias

MOST = 20  # children, and signals, on the page: the list of executions has all children


@dataclass(frozen=True, slots=True)
class Waiting:
    """One thing that it waits for.

    Attributes:
        path: of the step record.
        what: in words.
        until: when that time is up.
        is_gate: it may have no such time, and then waits for ever.
        child: the child that is waited for.
        warning: why nothing will come, as things are.
        doors: verbs that open the gate, each with its word.
    """

    path: str
    what: str
    until: datetime | None
    is_gate: bool
    child: Execution | None
    warning: str
    doors: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Children:
    """The children: the latest of them, and how many are in which state."""

    rows: list[Execution]
    counts: list[tuple[str, int]]
    all_of_them: str


@dataclass(frozen=True, slots=True)
class Message:
    """One signal."""

    signal: Signal
    what: str
    sender: str
    payload: str


def context(request: HttpRequest, execution: Execution) -> dict[str, Any]:
    """The parts of the run page that are about others."""
    waits = awaiting.waits_for(execution)
    signals = list(_signals(execution))
    return {
        "waits": list(_waiting(request, waits.first)),
        "waits_more": waits.more,
        "parent": Execution.objects.using(alias()).light().get(pk=execution.parent_id) if execution.parent_id else None,
        "children": _children(request, execution),
        "milestones": list(_milestones(execution)),
        "signals": signals,
        "signals_more": execution.signals.count() - MOST if len(signals) == MOST else 0,
    }


def _waiting(request: HttpRequest, waits: Iterable[Awaited]) -> Iterator[Waiting]:
    for one in waits:
        if one.kind != CALL or one.holder:  # what its own worker is at, the head of the page says
            is_gate = one.kind in (SIGNAL, APPROVAL)
            yield Waiting(one.path, _what(one), one.until, is_gate, one.child, _warning(one), _doors(request, one))


def _what(one: Awaited) -> str:
    words = {
        SIGNAL: _("the signal “%(signal)s”") % {"signal": one.signal or one.path},
        APPROVAL: _("the decision of somebody with the permission “%(permission)s”") % {"permission": one.permission}
        if one.permission
        else _("somebody’s decision"),
        SLEEP: _("its time"),
        ATTEMPT: _("its next attempt"),
        CHILD: _("its child"),
        WORKER: _("a worker of the queue “%(queue)s”") % {"queue": one.queue} if one.queue else _("a worker"),
        CALL: _("the worker that is at it: %(worker)s") % {"worker": one.holder},
    }
    return words[one.kind]


def _warning(one: Awaited) -> str:
    if one.kind == WORKER and not one.served and one.queue:
        text = _("No worker serves this queue. Start some: Q_CLUSTER_NAME=%(queue)s manage.py qcluster")
        return text % {"queue": one.queue}
    return _("No worker is running: start manage.py qcluster.") if one.kind == WORKER and not one.served else ""


def _doors(request: HttpRequest, one: Awaited) -> list[tuple[str, str]]:
    if one.kind == SIGNAL and request.user.has_perm("saga_app.signal_execution"):
        return [("signal", _("Send it…"))]
    if one.kind == APPROVAL and (not one.permission or request.user.has_perm(one.permission)):
        return [("approve", _("Approve…")), ("reject", _("Reject…"))]
    return []


def _children(request: HttpRequest, execution: Execution) -> Children | None:
    counted = execution.children.order_by().values_list("status").annotate(Count("pk"))
    counts = [(messages.status_word(status), count) for status, count in sorted(counted)]
    if not counts:
        return None
    rows = list(execution.children.light().order_by("-created_at", "-pk")[:MOST])
    where = reverse("admin:saga_app_execution_changelist", current_app=getattr(request, "current_app", None))
    return Children(rows, counts, f"{where}?parent__id__exact={execution.pk}")


def _milestones(execution: Execution) -> Iterator[str]:
    """Those it has passed last: a loop has one for each turn."""
    passed = execution.steps.filter(kind="milestone").order_by("-seq")
    return (readable(path) for path in passed.values_list("path", flat=True)[:3])


def _signals(execution: Execution) -> Iterator[Message]:
    shown = execution.signals.defer("payload_text").annotate(
        payload_shown=Left("payload_text", MAX_VALUE + 1), payload_length=Length("payload_text")
    )
    for signal in shown.order_by("-id")[:MOST]:
        yield Message(
            signal=signal,
            what=messages.word(messages.CHOICE, signal.verdict) if signal.verdict else "",
            sender=readable(signal.sender_name),
            payload=value(signal.payload_shown, signal.payload_length, signal.name),
        )
