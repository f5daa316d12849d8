"""Drives one claim: decide, do, record, and again, until it parks, ends, or has had its time (design §8).

The one rule of order: what a call has told us is written before any other user code runs, and in the same
transaction as what is decided next.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from saga_app import atomics, clock, timeouts, watchdog
from saga_app.bodies import Caller, could_not_be_made
from saga_app.conf import settings
from saga_app.core import registry
from saga_app.core.changes import advance, bound, intend, intend_compensation, release
from saga_app.core.decide import decide_unknown
from saga_app.core.decisions import CallAtomic, Compensate, Decision, Finish, Intend, Park, Reconcile, Release, Stick
from saga_app.core.errors import LeaseLost
from saga_app.core.failures import describe
from saga_app.core.outcomes import Outcome, settle
from saga_app.core.saga import Saga
from saga_app.core.snapshot import Snapshot
from saga_app.core.status import Status, StuckReason
from saga_app.core.steps import Step
from saga_app.store import checkpoint, claims, events
from saga_app.store.checkpoint import Write
from saga_app.store.claims import Claim
from saga_app.store.transactions import DatabaseFault, drop_broken_connection, is_inside
from saga_app.values import Values

logger = logging.getLogger("saga_app")

SLEPT_IN_PLACE = 1.0  # seconds; a longer delay gives the claim back


class Drive:
    """One claim being driven.

    Two pictures: `written` is what the table holds, `current` the same with the outcome of the last call.
    """

    def __init__(self, claim: Claim, facts: Snapshot) -> None:
        self.claim = claim
        self.written = self.current = facts
        self.saga: Saga[Any] | None = registry.get(facts.saga, facts.revision)
        self.values = Values(claim, facts)
        self.go_on: Callable[[], bool] = lambda: True
        self.ends = 0.0
        self.done = False
        self.pending: Outcome | None = None  # told by a body, not yet written
        self._first: checkpoint.Written | None = None
        self._intended: Decision | None = None

    # the claim's own transaction

    def begin(self) -> None:
        """Write what can be decided without running any user code, in the claim's own transaction."""
        after, decision = self._decide()
        if isinstance(decision, Intend | Compensate):
            intended = self._intend(after, decision, inert_only=True)
            if intended is None:
                return
            after = intended
            self._intended = decision
        elif isinstance(decision, Release) and not self.returns_something(decision):
            after = release(after, decision, self.claim.moment())
            self.done = True
        else:
            return
        what = Write(self.written, self.current, after, self.done, isinstance(decision, Stick))
        self._first = checkpoint.write(self.claim, what)

    def begun(self) -> None:
        """The claim's own transaction has committed."""
        self.claim.fresh = False
        if self._first is not None:
            self.claim.writes += 1
            self._wrote(self._first)

    # the loop

    def drive(self) -> None:
        """Go on until the claim is given back or lost."""
        if self.done:
            return
        try:
            if is_inside():
                self._loop()
            else:
                with watchdog.watching(self._beat, settings.LEASE / 4):
                    self._loop()
        except LeaseLost as lost:
            logger.warning("Execution %s: %s", self.claim.execution_id, lost)
            self._leave_word()
        except DatabaseFault:
            logger.exception("Execution %s is left to the next claim.", self.claim.execution_id)
            drop_broken_connection(self.claim.using)
        except Exception:
            logger.exception("Execution %s could not be driven; its lease runs out.", self.claim.execution_id)

    def _beat(self) -> bool:
        held = claims.beat(self.claim)
        if held:
            timeouts.prolong(self.claim.lease_ends - clock.monotonic())
        return held

    def _loop(self) -> None:
        if self._intended is not None and not self.done:
            self._call(self._intended)
        while not self.done:
            after, decision = self._decide()
            if isinstance(decision, Release):
                self._release(after, decision)
            elif self._must_yield():
                self._write(after.but(due_at=self.claim.moment()), releases=True)
            elif isinstance(decision, Intend | Compensate):
                self._begin_call(after, decision)
            elif after != self.written:
                self._write(after)  # flushed before any other user code
            else:
                self._call(decision)

    def _decide(self) -> tuple[Snapshot, Decision]:
        now = self.claim.moment()
        if self.saga is None:
            since = self.current.definition_missing_since or now
            decision = decide_unknown(self.current, now, settings.DEFINITION_GRACE)
            return self.current.but(definition_missing_since=since), decision
        return advance(self.saga, self.current.but(definition_missing_since=None), now)

    def _must_yield(self) -> bool:
        return clock.monotonic() >= self.ends or not self.go_on()

    def _begin_call(self, after: Snapshot, decision: Intend | Compensate) -> None:
        """Write the intent, with the last outcome, and call the body."""
        intended = self._intend(after, decision, inert_only=after != self.written)
        if intended is None:
            self._write(after)
        elif intended is self.current:
            return  # its arguments could not be made: an outcome like any other
        elif self._write(intended):
            self._call(decision)

    def _intend(self, after: Snapshot, decision: Intend | Compensate, *, inert_only: bool) -> Snapshot | None:
        """The picture with the intent. None: `after` has to be written first, since user code is to run."""
        step = self._step(decision.path)
        now = self.claim.moment()
        if isinstance(decision, Compensate):
            return intend_compensation(after, step, now)
        record = after.record(step.name)
        if record is not None and record.arguments_text is not None:
            return intend(after, step, None, now)
        self.values.facts = after
        if inert_only and not self.caller.is_inert(step):
            return None
        try:
            call = self.caller.prepare(step)
        except DatabaseFault:
            raise
        except Exception as error:  # noqa: BLE001 - bound callables and dataclasses may raise anything
            if inert_only:
                return None  # again, when it is the only thing left to write
            self.pending = could_not_be_made(step.name, error, self.claim)
            self.current = settle(bound(after, step, None, now), self.pending)
            return self.current
        return intend(after, step, call, now)

    def _call(self, decision: Decision) -> None:
        """Run user code; what it told is in `current` afterwards, and not written yet."""
        self._intended = None
        self.values.facts = self.current
        match decision:
            case Intend(path) | Compensate(path) if not self._is_atomic(decision):
                step = self._step(path)
                forward = isinstance(decision, Intend)
                outcome = self.caller.forward(step) if forward else self.caller.compensation(step)
            case Reconcile(path):
                outcome = self.caller.reconcile(self._step(path))
            case CallAtomic(path) | Intend(path) | Compensate(path):
                atomics.call(self, self._step(path), undoes=isinstance(decision, Compensate))
                return
        self.told(outcome)

    def told(self, outcome: Outcome) -> None:
        """A call has ended: its outcome is known here, and is written with what is decided next."""
        self.pending = outcome
        asks = self._step(outcome.path).reconciler is not None
        self.current = settle(self.current, outcome, asks=asks)
        self.values.facts = self.current

    # writes

    def _release(self, after: Snapshot, decision: Release) -> None:
        if isinstance(decision, Park) and self._sleeps(decision):
            self._write(after)
            clock.sleep(max(0.0, (decision.until - self.claim.moment()).total_seconds()))
            return
        if self.returns_something(decision):
            if after != self.written:
                self._write(after)
                return
            decision, after = self._with_output(after, decision)
        after = release(after, decision, self.claim.moment())
        self._write(after, releases=True, absent=isinstance(decision, Stick))

    def _sleeps(self, park: Park) -> bool:
        """A short delay is slept in place: giving the claim back and taking it again costs more."""
        short = (park.until - self.claim.moment()).total_seconds() <= SLEPT_IN_PLACE
        return short and not clock.stands_still() and not self._must_yield() and self.saga is not None

    def returns_something(self, decision: Decision) -> bool:
        """Whether this is an end at which the execution returns a value, which takes user code to compute."""
        ends = isinstance(decision, Finish) and decision.status == Status.COMPLETED
        return ends and self.saga is not None and self.saga.output_call is not None

    def _with_output(self, after: Snapshot, decision: Release) -> tuple[Release, Snapshot]:
        """The end with what the execution returns; where that cannot be had, an operator sees why."""
        self.values.facts = after
        try:
            text = self.caller.output_text()
        except DatabaseFault:
            raise
        except Exception as error:  # noqa: BLE001 - a path into a value may lead nowhere
            return Stick(StuckReason.UNDECODABLE), after.but(error_text=describe(error).to_json())
        return decision, after.but(output_text=text)

    def _write(self, after: Snapshot, *, releases: bool = False, absent: bool = False) -> bool:
        """Checkpoint. False: something arrived that the decision has not seen; only the outcome is written."""
        what = Write(self.written, self.current, after, releases, absent)
        return self._wrote(checkpoint.checkpoint(self.claim, what), releases=releases)

    def _wrote(self, written: checkpoint.Written, *, releases: bool | None = None) -> bool:
        self.pending = None
        releases = self.done if releases is None else releases
        self.done = releases and written.decided
        facts = written.facts
        if not written.decided:
            self._intended = None
            looked = checkpoint.persist(self.claim, partial(claims.look, self.claim), [])
            facts = looked.but(quiet_at=facts.quiet_at)
        self.written = self.current = self.values.facts = facts
        return written.decided

    def atomically_wrote(self, written: checkpoint.Written, *, releases: bool) -> None:
        """The transaction of an atomic body has committed, its record and perhaps the end with it."""
        self.claim.writes += 1
        self._wrote(written, releases=releases)

    def _leave_word(self) -> None:
        """What a body told that may not be recorded any more: it may have landed after its compensation."""
        told = self.pending
        if told is None:
            return
        data = {"path": told.path, "direction": str(told.direction), "how": str(told.how)}
        try:
            events.late_result(self.claim.execution_id, self.claim.using, data)
        except DatabaseFault:
            logger.exception("Execution %s: a late result could not be noted: %s", self.claim.execution_id, data)

    # what it drives

    @property
    def caller(self) -> Caller:
        """What calls the saga's functions."""
        assert self.saga is not None  # noqa: S101 - nothing is called of a saga that is not known
        return Caller(self.saga, self.claim, self.values)

    def _step(self, path: str) -> Step[..., Any]:
        step = self.saga.step(path) if self.saga else None
        if step is None:
            raise LookupError(path)
        return step

    def _is_atomic(self, decision: Intend | Compensate) -> bool:
        step = self._step(decision.path)
        if isinstance(decision, Intend):
            return step.atomic
        return step.compensation is not None and step.compensation.atomic
