"""How the sagas do, in figures: what is open of each, by status, and how long the newest ones took."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.db import connections

from saga_app import messages
from saga_app.clock import MomentField
from saga_app.core import registry
from saga_app.core.status import OPEN, Status
from saga_app.models import Execution
from saga_app.store.together import Part, read
from saga_app.store.transactions import alias

NEWEST = 2_000  # executions looked at for their durations: an average of a year says nothing about tonight
MOST_SAGAS = 50
SHOWN = [status for status in Status if status in OPEN]
SLOWEST = 0.95
COUNTS = "SELECT saga, status, COUNT(*), NULL, NULL FROM {} GROUP BY saga, status"
TOOK = "SELECT saga, '', 0, created_at, finished_at FROM {}"


@dataclass(frozen=True, slots=True)
class Row:
    """One saga.

    Attributes:
        saga: its name.
        counts: how many are in each open status, in the order of SHOWN.
        p95: within how long 95 of 100 were over, in words; empty where none has ended.
        ended: how many that was measured on.
    """

    saga: str
    counts: list[tuple[Status, int]]
    p95: str = ""
    ended: int = 0

    @property
    def open(self) -> int:
        """How many have not ended."""
        return sum(count for _, count in self.counts)


@dataclass(frozen=True, slots=True)
class Figures:
    """What is open, and how long the newest took.

    Attributes:
        open: saga → status → how many.
        durations: saga → seconds from start to end, of those of the newest executions that have ended.
        any: whether there is any execution at all.
    """

    open: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    durations: Mapping[str, list[float]] = field(default_factory=dict)
    any: bool = False

    @property
    def by_status(self) -> list[tuple[Status, int]]:
        """How many executions are in each open status."""
        return [(status, sum(counts.get(status, 0) for counts in self.open.values())) for status in SHOWN]

    @property
    def ended(self) -> int:
        """How many executions the durations are those of."""
        return sum(map(len, self.durations.values()))

    def rows(self) -> list[Row]:
        """The sagas: those with something stuck first, then those with most open."""
        names = {*self.open, *self.durations, *(saga.name for saga in registry.all())}
        return sorted((self._row(name) for name in names), key=_place)

    def _row(self, saga: str) -> Row:
        counts, took = self.open.get(saga, {}), self.durations.get(saga, [])
        p95 = messages.span(percentile(took, SLOWEST)) if took else ""
        return Row(saga, [(status, counts.get(status, 0)) for status in SHOWN], p95, len(took))


def _place(row: Row) -> tuple[int, int, str]:
    return -dict(row.counts)[Status.STUCK], -row.open, row.saga


def figures() -> Figures:
    """One query: of what is open alone, and of the newest, whatever lies behind them."""
    using = alias()
    executions, connection, moment = Execution.objects.using(using), connections[using], MomentField()
    newest = executions.order_by("-created_at", "-id").values("saga", "created_at", "finished_at")[:NEWEST]
    parts = [Part(COUNTS, executions.open().order_by().values("saga", "status")), Part(TOOK, newest)]
    counts: dict[str, dict[str, int]] = defaultdict(dict)
    took: dict[str, list[float]] = defaultdict(list)
    for saga, status, count, *moments in (rows := read(using, parts)):
        began, ended = (moment.from_db_value(at, None, connection) for at in moments)
        if status:
            counts[saga][status] = count
        elif began is not None and ended is not None:
            took[saga].append((ended - began).total_seconds())
    return Figures(dict(counts), dict(took), any=bool(rows))


def percentile(values: list[float], share: float) -> float:
    """The smallest of the values that so many of them do not exceed."""
    return sorted(values)[max(math.ceil(share * len(values)) - 1, 0)]
