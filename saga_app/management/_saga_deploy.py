"""`manage.py saga predeploy`: which open executions this code would get stuck, asked before it is deployed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Count

from saga_app import messages
from saga_app.core import family, registry
from saga_app.core.fitting import fits
from saga_app.core.forks import gone
from saga_app.core.saga import Saga
from saga_app.core.snapshot import ELSEWHERE, Record, Snapshot
from saga_app.core.status import StuckReason
from saga_app.management._saga_read import say, say_json, table
from saga_app.models import Execution, StepRecord
from saga_app.querysets import ExecutionQuerySet
from saga_app.store import rows, transactions

EXAMPLES = 3
PAGE = 200  # executions; their records are read one execution after the other
SMALL = tuple(name for name in rows.RECORD_FIELDS if name not in rows.LARGE)


@dataclass(slots=True)
class Trouble:
    """Open executions of one definition that this code cannot go on with, for one reason."""

    saga: str
    revision: int
    reason: StuckReason
    path: str
    cure: str
    count: int = 0
    examples: list[str] = field(default_factory=list)

    @property
    def why(self) -> str:
        """The reason as people read it."""
        return f"the compensation of {self.path} is gone" if self.path else messages.reason_word(self.reason)


def predeploy(command: BaseCommand, options: dict[str, Any]) -> None:
    """List them; exit with 1 when there are any."""
    troubles = list(_troubles())
    if options["json"]:
        say_json(command, [asdict(trouble) for trouble in troubles])
    elif troubles:
        head = ("SAGA", "REVISION", "EXECUTIONS", "WHY", "SUCH AS")
        table(command, head, [(t.saga, t.revision, t.count, t.why, " ".join(t.examples)) for t in troubles])
        say(command, "", *(f"{t.saga}, revision {t.revision}: {t.cure}" for t in troubles))
    if troubles:
        count = sum(trouble.count for trouble in troubles)
        raise CommandError(
            f"This code would get {count} open executions stuck: keep their sagas, or let them end first."
        )
    if not options["json"]:
        say(command, "Every open execution goes on with this code.")


def _troubles() -> Iterator[Trouble]:
    """Those of each definition that open executions have and this code lacks, or has changed too much."""
    executions = Execution.objects.using(transactions.alias()).open()
    kinds = executions.order_by("saga", "revision", "fingerprint").values_list("saga", "revision", "fingerprint")
    for name, revision, shape, count in kinds.annotate(count=Count("pk")):
        ours = executions.filter(saga=name, revision=revision, fingerprint=shape)
        saga = registry.get(name, revision)
        if saga is None:
            examples = [str(pk) for pk in ours.order_by("created_at").values_list("pk", flat=True)[:EXAMPLES]]
            cure = _cure_of_missing(name)
            yield Trouble(name, revision, StuckReason.DEFINITION_MISSING, "", cure, count, examples)
        elif saga.fingerprint != shape:
            yield from _misfits(saga, ours)


def _misfits(saga: Saga[Any], executions: ExecutionQuerySet) -> Iterator[Trouble]:
    """Those of which a node has run that the saga has no more or elsewhere, or cannot be undone any more."""
    found: dict[str, Trouble] = {}
    for execution_id, facts in _begun(executions):
        path = gone(saga, facts)
        if path or not fits(saga, facts):
            cure = _cure_of_changed(saga, path)
            trouble = found.setdefault(
                path, Trouble(saga.name, saga.revision, StuckReason.DEFINITION_CHANGED, path, cure)
            )
            trouble.count += 1
            trouble.examples += [execution_id][: EXAMPLES - len(trouble.examples)]
    yield from found.values()


def _begun(executions: ExecutionQuerySet) -> Iterator[tuple[str, Snapshot]]:
    """Those of which something has run, with their pictures, one after the other."""
    using = transactions.alias()
    page = list(executions.light().order_by("pk")[:PAGE])
    while page:
        known = {row.pk: row for row in page}
        records = StepRecord.objects.using(using).filter(execution__in=list(known)).order_by("execution_id", "seq")
        values: Iterator[dict[str, Any]] = records.values("execution_id", *SMALL).iterator()
        for execution_id, some in groupby(values, itemgetter("execution_id")):
            facts = rows.snapshot(rows.columns_of(known[execution_id]), map(_record, some))
            yield str(execution_id), facts.but(kids=rows.load_kids(family.watched(facts), using))
        page = list(executions.light().order_by("pk").filter(pk__gt=page[-1].pk)[:PAGE])


def _record(row: dict[str, Any]) -> Record:
    large: dict[str, Any] = dict.fromkeys(rows.LARGE, ELSEWHERE)
    return Record(**{name: row[name] for name in SMALL}, **large)


def _cure_of_missing(saga: str) -> str:
    known = sorted(one.revision for one in registry.all() if one.name == saga)
    beside = f" beside revision {known[-1]}" if known else ""
    return f"keep it in the code{beside} until they have ended."


def _cure_of_changed(saga: Saga[Any], path: str) -> str:
    if path:
        return f"keep the compensation of {path} until they have ended."
    return f"keep it as it was, and write what is new as revision={saga.revision + 1} beside it."
