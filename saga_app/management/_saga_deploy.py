"""`manage.py saga predeploy`: which open executions this code would get stuck, asked before it is deployed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Count

from saga_app import messages
from saga_app.core import registry
from saga_app.core.decide import fits
from saga_app.core.saga import Saga
from saga_app.core.snapshot import Snapshot
from saga_app.core.status import StuckReason
from saga_app.management._saga_read import say, say_json, table
from saga_app.models import Execution
from saga_app.querysets import ExecutionQuerySet
from saga_app.store import rows, transactions

EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Trouble:
    """Open executions of one definition that this code cannot go on with."""

    saga: str
    revision: int
    reason: StuckReason
    count: int
    examples: list[str]


def predeploy(command: BaseCommand, options: dict[str, Any]) -> None:
    """List them; exit with 1 when there are any."""
    troubles = list(_troubles())
    if options["json"]:
        say_json(command, [asdict(trouble) for trouble in troubles])
    elif troubles:
        head = ("SAGA", "REVISION", "EXECUTIONS", "WHY", "SUCH AS")
        lines = [(t.saga, t.revision, t.count, messages.reason_word(t.reason), " ".join(t.examples)) for t in troubles]
        table(command, head, lines)
    if troubles:
        count = sum(trouble.count for trouble in troubles)
        raise CommandError(
            f"This code would get {count} open executions stuck: keep their sagas, or let them end first."
        )
    if not options["json"]:
        say(command, "Every open execution goes on with this code.")


def _troubles() -> Iterator[Trouble]:
    """One for each definition that open executions have and this code lacks, or has changed too much."""
    executions = Execution.objects.using(transactions.alias()).open()
    kinds = (
        executions.order_by("saga", "revision").values("saga", "revision", "fingerprint").annotate(count=Count("pk"))
    )
    for kind in kinds:
        saga = registry.get(kind["saga"], kind["revision"])
        ours = executions.filter(saga=kind["saga"], revision=kind["revision"], fingerprint=kind["fingerprint"])
        if saga is None:
            examples = [str(pk) for pk in ours.order_by("created_at").values_list("pk", flat=True)[:EXAMPLES]]
            yield Trouble(kind["saga"], kind["revision"], StuckReason.DEFINITION_MISSING, kind["count"], examples)
        elif saga.fingerprint != kind["fingerprint"] and (odd := _misfits(saga, ours)):
            yield Trouble(saga.name, saga.revision, StuckReason.DEFINITION_CHANGED, len(odd), odd[:EXAMPLES])


def _misfits(saga: Saga[Any], executions: ExecutionQuerySet) -> list[str]:
    """Those of which a step has run that the saga does not have any more, or has in another place."""
    return [str(row.pk) for row in executions.light().iterator() if not fits(saga, _facts(row))]


def _facts(execution: Execution) -> Snapshot:
    return rows.snapshot(rows.columns_of(execution), rows.load_records(execution.pk, transactions.alias()))
