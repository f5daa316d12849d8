"""Drives one claim of a queued step: one call, and what became of it (design §8.10).

Everything that is decided about a queued step is decided under the lock of its claim, from facts as they are then.
So what a call has told goes back into the queue, unless it is the end, and the next claim decides again.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from saga_app.conf import settings
from saga_app.core.arranging import intend, intend_compensation
from saga_app.core.changes import change
from saga_app.core.decide import decide_unknown
from saga_app.core.decisions import (
    Call,
    Compensate,
    Cut,
    FailCompensation,
    FailStep,
    Intend,
    Park,
    Stick,
)
from saga_app.core.fitting import fits
from saga_app.core.outcomes import Outcome
from saga_app.core.queued import Row, come_to_rest, cut_group, decide_row, leave, refuse
from saga_app.core.saga import Saga
from saga_app.core.snapshot import Record, Snapshot
from saga_app.driver import Driver
from saga_app.store import row_claims, row_writes, rows
from saga_app.store.row_claims import RowClaim
from saga_app.store.transactions import DatabaseFault
from saga_app.values import Values

AGAIN = timedelta(seconds=30)  # from one look to the next of a worker that does not know the saga, where grace is over


class _Values(Values):
    """What the execution has so far. The other records are read when something of them is asked for: few steps do."""

    is_whole = False

    def output_text(self, path: str) -> str | None:
        """What the node at `path` gave, encoded, or None."""
        self._complete()
        return super().output_text(path)

    def latest(self, names: Sequence[str], path: str) -> Record | None:
        """The record that these names mean, seen from `path`."""
        self._complete()
        return super().latest(names, path)

    def _complete(self) -> None:
        if self.is_whole:
            return
        self.is_whole = True
        own = {record.path: record for record in self.facts.records}
        stored = rows.load_records(self.claim.execution_id, self.claim.using)
        self.facts = self.facts.with_records(own.get(record.path, record) for record in stored)


class QueuedStep(Driver[RowClaim, Snapshot]):
    """The claim of a queued step being driven."""

    def __init__(self, claim: RowClaim, facts: Snapshot) -> None:
        super().__init__(claim, facts, _Values(claim, facts))
        self.path = claim.path
        self._next: Call | None = None  # the call that the claim was written for

    # the claim's own transaction

    def begin(self) -> None:
        """Decide, and write the claim with what is decided, in the transaction that has locked the row."""
        x, now = self.current, self.claim.moment()
        if self.saga is None:
            self._leave_to_others(x, now)
            return
        if not self._fits(self.saga, x, now):
            self._settle(leave(x, self.path, now))
            return
        decision = decide_row(self.saga, x, self.path, now)
        match decision:
            case Park(until):
                row_writes.give_back(self.claim, x, x, until or now)
            case Stick():
                self._settle(leave(x, self.path, now))
            case Cut():
                self._settle(refuse(self.saga, x, self.path, now))
            case FailStep() | FailCompensation():
                self._settle(come_to_rest(change(self.saga, x, decision, now), self.path))
            case _:
                self._hold(self._intended(decision, now))
                self._next = decision

    def alone(self, error: Exception) -> None:
        """Begin again after a fault of the database; what cannot be decided about is left to its lease, as a death."""
        self.begin() if isinstance(error, DatabaseFault) else self._hold(self.current)

    def is_there(self) -> bool:
        """Whether the claim, whose commit is in doubt, has landed."""
        return row_claims.is_there(self.claim)

    def begun(self) -> None:
        """The claim's own transaction has committed."""
        self.claim.fresh = False

    def _leave_to_others(self, x: Snapshot, now: datetime) -> None:
        """A worker that knows the saga may come. Once the grace is over, the execution itself says what that means."""
        x = x.but(definition_missing_since=x.definition_missing_since or now)
        decision = decide_unknown(x, now, settings.DEFINITION_GRACE)
        waits = isinstance(decision, Park) and decision.until is not None
        until = decision.until if waits else now + AGAIN  # type: ignore[union-attr]
        row_writes.give_back(self.claim, self.written, x, until, wakes=not waits)  # type: ignore[arg-type]

    def _fits(self, saga: Saga[Any], x: Snapshot, now: datetime) -> bool:
        """Whether what ran fits the code as it is now: all of it, where that has changed since."""
        if saga.fingerprint == x.fingerprint or x.unwinding:
            return True
        return fits(saga, rows.whole(x, self.claim.execution_id, self.claim.using), now)

    def _intended(self, decision: Row, now: datetime) -> Snapshot:
        step = self.step(self.path)
        if isinstance(decision, Intend):
            return intend(self.current, step, self.path, None, now)
        if isinstance(decision, Compensate):
            return intend_compensation(self.current, step, self.path, now)
        return self.current

    def _hold(self, after: Snapshot) -> None:
        row_writes.hold(self.claim, self.written, after)
        self.written = self.current = self.values.facts = after

    def _settle(self, after: Snapshot) -> None:
        row_writes.settle(self.claim, self.written, after, self._cut)

    # the call

    def drive(self) -> None:
        """Make the call that the claim is for, if there is one, and write what it told."""
        if self._next is not None:
            self.watched(partial(self.call, self._next))

    def beat(self) -> bool:
        """Renew the lease, where it is time to; False: it is somebody else's."""
        return row_claims.beat(self.claim)

    def told(self, outcome: Outcome) -> None:
        """A call has ended: write its outcome."""
        self.pending = outcome
        after = self._rested(self.current, outcome)
        self.current = after
        row_writes.record(self.claim, self.written, after, self._until(after), self._cut)
        self.pending = None

    def _rested(self, x: Snapshot, outcome: Outcome) -> Snapshot:
        return come_to_rest(self.settled(x, outcome), self.path)

    def _until(self, after: Snapshot) -> datetime | None:
        """From when the row may be claimed again; None: it is over."""
        record = after.known(self.path)
        if record.row_holder is not None and record.in_queue:
            return self.claim.moment()  # its outcome is unknown: the next claim decides what that means
        return record.row_due_at

    def _cut(self, whole: Snapshot) -> Snapshot:
        return whole if self.saga is None else cut_group(self.saga, whole, self.claim.moment())

    # atomic calls: see atomics.Drives

    def enter(self, seconds: float) -> None:
        """Begin the transaction of an atomic body."""
        row_writes.enter(self.claim, seconds)

    def write_outcome(self, start: Snapshot, outcome: Outcome) -> Snapshot:
        """Write its outcome, in that transaction."""
        after = self._rested(start, outcome)
        row_writes.write(self.claim, self.written, after, self._until(after), self._cut)
        return after

    def has_landed(self, written: Snapshot) -> bool:
        """Whether that commit, whose answer was lost, is in the table."""
        return row_writes.has_landed(self.claim, written.known(self.path))

    def wrote(self, written: Snapshot) -> None:
        """The transaction has committed."""
        self.written = self.current = written
