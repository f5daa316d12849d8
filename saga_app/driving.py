"""Drives one claim: decide, do, record, and again, until it parks, ends, or has had its time (design §8).

The one rule of order: what a call has told us is written before any other user code runs, and in the same
transaction as what is decided next.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

from saga_app import arrangements, clock
from saga_app.conf import settings
from saga_app.core.arranging import Call, bound, intend, intend_compensation
from saga_app.core.changes import advance, release
from saga_app.core.decide import decide_unknown
from saga_app.core.decisions import (
    Arrange,
    Compensate,
    Decision,
    Finish,
    Intend,
    Park,
    Release,
    Stick,
    Tell,
)
from saga_app.core.decisions import Call as Calls
from saga_app.core.failures import describe
from saga_app.core.outcomes import Outcome, settle
from saga_app.core.snapshot import Snapshot
from saga_app.core.status import Status, StuckReason
from saga_app.driver import Driver
from saga_app.store import checkpoint, claims
from saga_app.store.checkpoint import Write, Written
from saga_app.store.children import Message
from saga_app.store.claims import Claim
from saga_app.store.transactions import DatabaseFault
from saga_app.values import Values

SLEPT_IN_PLACE = 1.0  # seconds; a longer delay gives the claim back
NAP = 0.25  # seconds between two looks whether something has arrived meanwhile


class Drive(Driver[Claim, Written]):
    """The claim of an execution being driven."""

    def __init__(self, claim: Claim, facts: Snapshot) -> None:
        super().__init__(claim, facts, Values(claim, facts))
        self.go_on: Callable[[], bool] = lambda: True
        self.ends = 0.0
        self.over = False  # the claim is given back
        self._first: Written | None = None  # written in the claim's own transaction
        self._next: Intend | Compensate | None = None  # a call whose intent is in it

    # the claim's own transaction

    def begin(self) -> None:
        """Write what can be decided without running any user code, in the claim's own transaction."""
        after, decision = self.decide()
        if isinstance(decision, Intend | Compensate):
            intended = self._intent(after, decision)
            self._next = decision
        elif isinstance(decision, Release) and not self.returns_something(decision):
            intended = release(after, decision, self.claim.moment())
        else:
            return
        if intended is None:
            return
        what = self._what(intended, decision)
        if not checkpoint.tells_parent(self.claim, what):  # its parent is locked before it, and it is locked already
            self._first = checkpoint.write(self.claim, what)

    def is_there(self) -> bool:
        """Whether the claim, whose commit is in doubt, has landed."""
        return claims.is_there(self.claim)

    def alone(self, error: Exception) -> None:
        """It is written already; what could not be begun under its lock is begun after it."""

    def begun(self) -> None:
        """The claim's own transaction has committed."""
        self.claim.fresh = False
        if self._first is not None:
            self.wrote(self._first)
        else:
            self._next = None

    # the loop

    def drive(self) -> None:
        """Go on until the claim is given back or lost."""
        if not self.over:
            self.watched(self._loop)

    def beat(self) -> bool:
        """Renew the lease, where it is time to; False: it is somebody else's."""
        return claims.beat(self.claim)

    def _loop(self) -> None:
        if self._next is not None:
            self._call(self._next)
        while not self.over:
            after, decision = self.decide()
            if isinstance(decision, Release):
                self.release(after, decision)
            elif self._must_yield():
                self.write(after.but(due_at=self.claim.moment()), Park(self.claim.moment()))
            elif isinstance(decision, Intend | Compensate):
                self._begin_call(after, decision)
            elif isinstance(decision, Arrange):
                arrangements.arrange(self, after, decision)
            elif isinstance(decision, Tell):
                arrangements.tell(self, after, decision)
            elif after != self.written:
                self.write(after)  # flushed before any other user code
            else:
                self._call(decision)  # type: ignore[arg-type]  # changes are applied already

    def decide(self) -> tuple[Snapshot, Decision]:
        now = self.claim.moment()
        if self.saga is None:
            since = self.current.definition_missing_since or now
            decision = decide_unknown(self.current, now, settings.DEFINITION_GRACE)
            return self.current.but(definition_missing_since=since), decision
        return advance(self.saga, self.current.but(definition_missing_since=None), now)

    def _must_yield(self) -> bool:
        return clock.monotonic() >= self.ends or not self.go_on()

    # calls

    def _begin_call(self, after: Snapshot, decision: Intend | Compensate) -> None:
        """Write the intent, with the last outcome, and call the body."""
        intended = self._intent(after, decision)
        if intended is None and after != self.written:
            self.write(after)  # flushed before user code makes the arguments
            return
        intended = intended or self._bound(after, decision.path)
        if intended is not None and self.write(intended):
            self._call(decision)

    def _intent(self, after: Snapshot, decision: Intend | Compensate) -> Snapshot | None:
        """The picture with the intent; None where making the arguments takes user code, or fails."""
        path, now = decision.path, self.claim.moment()
        step = self.step(path)
        if isinstance(decision, Compensate):
            return intend_compensation(after, step, path, now)
        record = after.record(path)
        if record is not None and record.arguments_text is not None:
            return intend(after, step, path, None, now)
        self.values.facts = after
        if not self.caller.is_inert(step, path):
            return None
        try:
            return intend(after, step, path, self.caller.prepare(step, path), now)
        except DatabaseFault:
            raise
        except Exception:  # noqa: BLE001 - told as an outcome once there is nothing else left to write
            return None

    def _bound(self, after: Snapshot, path: str) -> Snapshot | None:
        """The picture with the intent, its arguments made by user code; None: they could not be, an outcome."""
        step = self.step(path)
        self.values.facts = after
        record = after.record(path)
        number = (record.attempt if record else 0) + 1
        made = self.caller.prepared(lambda: self.caller.prepare(step, path), path, step.policy, number)
        if isinstance(made, Call):
            return intend(after, step, path, made, self.claim.moment())
        self.not_bound(bound(after, step, path, None, self.claim.moment()), made)
        return None

    def not_bound(self, x: Snapshot, made: Outcome) -> None:
        """What a call begins with could not be made: that is its outcome."""
        if made.retry:  # it counts, or it would be tried for ever
            x = x.with_record(made.path, attempt=x.known(made.path).attempt + 1)
        self.pending, self.current = made, settle(x, made)

    def _call(self, decision: Calls) -> None:
        self._next = None
        self.call(decision)

    def told(self, outcome: Outcome) -> None:
        """A call has ended: its outcome is known here, and is written with what is decided next."""
        self.pending = outcome
        self.current = self.values.facts = self.settled(self.current, outcome)

    # atomic calls: see atomics.Drives

    def enter(self, seconds: float) -> None:
        """Begin the transaction of an atomic body."""
        checkpoint.enter(self.claim, seconds)

    def write_outcome(self, start: Snapshot, outcome: Outcome) -> Written:
        """Write its outcome in that transaction. The end comes along, if this was the last step."""
        assert self.saga is not None  # noqa: S101 - an atomic body is called of a saga that is known
        settled, now = self.settled(start, outcome), self.claim.moment()
        after, decision = advance(self.saga, settled, now)
        ends = isinstance(decision, Finish) and not self.returns_something(decision)
        after = release(after, decision, now) if ends else settled  # type: ignore[arg-type]
        return checkpoint.write(self.claim, Write(self.written, settled, after, ends))

    def has_landed(self, written: Written) -> bool:
        """Whether that commit, whose answer was lost, is in the table."""
        return checkpoint.has_landed(self.claim)

    # writes

    def release(self, after: Snapshot, decision: Release) -> None:
        if isinstance(decision, Park) and self._sleeps(decision):
            if self.write(after) and decision.until is not None:
                self._sleep(decision.until)
            return
        if self.returns_something(decision):
            if after != self.written:
                self.write(after)
                return
            decision, after = self._with_output(after, decision)
        self.write(release(after, decision, self.claim.moment()), decision)

    def _sleeps(self, park: Park) -> bool:
        """A short delay is slept in place: giving the claim back and taking it again costs more."""
        if park.until is None:
            return False
        short = (park.until - self.claim.moment()).total_seconds() <= SLEPT_IN_PLACE
        return short and not clock.stands_still() and not self._must_yield() and self.saga is not None

    def _sleep(self, until: datetime) -> None:
        """Wait it out, unless something arrives."""
        while (left := (until - self.claim.moment()).total_seconds()) > 0:
            clock.sleep(min(left, NAP))
            if left > NAP and claims.something_came(self.claim):
                self.look()
                return

    def returns_something(self, decision: Decision) -> bool:
        """Whether this is an end at which the execution returns a value, which takes user code to compute."""
        ends = isinstance(decision, Finish) and decision.status == Status.COMPLETED
        return ends and self.saga is not None and self.saga.output_call is not None

    def _with_output(self, after: Snapshot, decision: Release) -> tuple[Release, Snapshot]:
        """The end with what the execution returns; where that cannot be had, an operator sees why."""
        self.values.facts = after
        try:
            text = self.caller.output_text()
        except BaseException as error:  # noqa: BLE001 - a path into a value may lead anywhere
            return Stick(StuckReason.UNDECODABLE), after.but(error_text=describe(error).to_json())
        return decision, after.but(output_text=text)

    def _what(self, after: Snapshot, decision: Decision | None = None, message: Message | None = None) -> Write:
        releases, absent = isinstance(decision, Release), after.presuming
        after = after.but(presuming=False) if absent else after
        return Write(self.written, self.current, after, releases, absent, message)

    def write(self, after: Snapshot, decision: Decision | None = None, message: Message | None = None) -> bool:
        """Checkpoint. False: something arrived that the decision has not seen; only the outcome is written."""
        return self.wrote(checkpoint.checkpoint(self.claim, self._what(after, decision, message)))

    def wrote(self, written: Written) -> bool:
        """A transaction with a write of ours has committed. False: only the outcome is in it; the facts are new."""
        checkpoint.committed(self.claim, written)
        self.pending = None
        self.over = written.released
        self.written = self.current = self.values.facts = written.facts
        if not written.decided:
            self._next = None
            self.look()
        return written.decided

    def look(self) -> None:
        """Read the facts anew: what was decided upon is not what is true any more."""
        facts = checkpoint.persist(self.claim, partial(claims.look, self.claim), [])
        self.written = self.current = self.values.facts = facts

    def node(self, path: str) -> Any:
        """The node of that path: a gate or a child."""
        node = self.saga.node(path) if self.saga else None
        if node is None:
            raise LookupError(path)
        return node
