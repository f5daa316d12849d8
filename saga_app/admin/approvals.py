"""Which approvals wait, and for whom: read by what the sagas here say about who may decide."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from saga_app import clock
from saga_app.core import registry
from saga_app.core.approvals import Approval
from saga_app.core.saga import Saga
from saga_app.core.status import OPEN, StepStatus
from saga_app.models import Event, Signal, WaitingApproval
from saga_app.store.transactions import alias

MOST = 10_000  # that are counted: more than anybody decides
ANCESTORS = 4  # generations whose start counts as one's own; the page of a decision asks all of them


def waiting_for(user: Any) -> QuerySet[WaitingApproval]:
    """The open approvals that this user may decide, those whose time ends first in front.

    Who may is what `permission=` and `four_eyes=` of the sagas known here say. The code in an `allow=` is not asked:
    it would be called for each of them.
    """
    return decidable(open_approvals(user), user)


def count_for(user: Any) -> int:
    """How many wait for that user, at most MOST + 1."""
    return waiting_for(user).order_by().values("pk")[: MOST + 1].count()


def open_approvals(user: Any) -> QuerySet[WaitingApproval]:
    """All that nobody has decided; `started_by_me` says which belong to an execution that this user started.

    The conditions are those of the index on open approvals, so that no other step record is read.
    """
    using = alias()
    rows = WaitingApproval.objects.using(using).filter(kind="approval", status=StepStatus.WAITING)
    said = Signal.objects.using(using).filter(
        execution_id=OuterRef("execution_id"), name=OuterRef("path"), consumed_by=""
    )
    theirs = reduce(or_, (Q(execution_id=OuterRef(f"execution__{'parent__' * up}id")) for up in range(ANCESTORS)))
    mine = Event.objects.using(using).of("start").filter(theirs, actor_id=user.pk)
    undecided = rows.filter(~Exists(said.exclude(verdict="")), execution__status__in=OPEN)
    found: QuerySet[Any] = undecided.annotate(started_by_me=Exists(mine))
    return found.order_by(F("due_at").asc(nulls_last=True), "started_at", "pk")


def decidable(rows: QuerySet[WaitingApproval], user: Any) -> QuerySet[WaitingApproval]:
    """Those of them that this user may decide, and whose time is not up."""
    groups: dict[tuple[str, int, bool], list[str]] = {}
    for saga, node in gates():
        if node.permission is None or user.has_perm(node.permission):
            groups.setdefault((saga.name, saga.revision, node.four_eyes), []).append(node.name)
    if not groups:
        return rows.none()
    theirs = Q()
    for (saga_name, revision, four_eyes), names in groups.items():
        there = Q(execution__saga=saga_name, execution__revision=revision, name__in=names)
        theirs |= there & Q(started_by_me=False) if four_eyes else there
    everything = {name for names in groups.values() for name in names}
    in_time = Q(due_at=None) | Q(due_at__gte=clock.database_now(rows.db))
    return rows.filter(theirs, in_time, name__in=everything)


def gates() -> Iterator[tuple[Saga[Any], Approval]]:
    """The approvals of all sagas that this process knows."""
    for saga in registry.all():
        for place in saga.places.values():
            if isinstance(place.node, Approval):
                yield saga, place.node


def node_of(row: WaitingApproval) -> Approval | None:
    """What the saga says about it, if this process knows the saga."""
    saga = registry.get(row.execution.saga, row.execution.revision)
    node = saga.node(row.path) if saga else None
    return node if isinstance(node, Approval) else None
