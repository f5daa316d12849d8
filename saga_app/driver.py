"""What drives of executions and of queued steps have in common: a claim that is kept alive, and calls of user code."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from saga_app import atomics, clock, late, timeouts, watchdog
from saga_app.bodies import Caller
from saga_app.conf import settings
from saga_app.core import registry
from saga_app.core.decisions import Call, Compensate, Reconcile
from saga_app.core.errors import LeaseLost
from saga_app.core.outcomes import Outcome, settle
from saga_app.core.saga import Saga
from saga_app.core.snapshot import Snapshot
from saga_app.core.steps import Step
from saga_app.store.leases import Lease
from saga_app.store.transactions import DatabaseFault, drop_broken_connection, is_inside
from saga_app.values import Values

logger = logging.getLogger("saga_app")

C = TypeVar("C", bound=Lease)
W = TypeVar("W")  # what a write leaves to be kept once it has committed


class Driver(ABC, Generic[C, W]):
    """One claim being driven.

    Two pictures: `written` is what the table holds, `current` the same with the outcome of the last call.
    """

    def __init__(self, claim: C, facts: Snapshot, values: Values) -> None:
        self.claim = claim
        self.written = self.current = facts
        self.saga: Saga[Any] | None = registry.get(facts.saga, facts.revision)
        self.values = values
        self.pending: Outcome | None = None  # told by a body, not yet written

    # the claim's own transaction

    @abstractmethod
    def begin(self) -> None:
        """Decide, and write what needs no user code, in the claim's own transaction."""

    @abstractmethod
    def alone(self, error: Exception) -> None:
        """Write the claim without what could not be begun under its lock, and why."""

    @abstractmethod
    def is_there(self) -> bool:
        """Whether the claim, whose commit is in doubt, has landed."""

    @abstractmethod
    def begun(self) -> None:
        """The claim's own transaction has committed."""

    # the drive

    @abstractmethod
    def drive(self) -> None:
        """Go on until the claim is given back or lost."""

    @abstractmethod
    def beat(self) -> bool:
        """Renew the lease, where it is time to; False: it is somebody else's."""

    def watched(self, drive: Callable[[], None]) -> None:
        """Drive while the watchdog keeps the lease. What goes wrong is in the log, and for the next claim to mend."""
        name = self.claim.execution_id
        try:
            if is_inside():
                drive()
            else:
                with watchdog.watching(self._beats, settings.LEASE / 4):
                    drive()
        except LeaseLost as lost:
            logger.warning("Execution %s: %s", name, lost)
            if self.pending is not None:
                late.leave_word(self.claim, self.pending, self.current.known(self.pending.path))
        except DatabaseFault:
            logger.exception("Execution %s is left to the next claim.", name)
            drop_broken_connection(self.claim.using)
        except Exception:
            logger.exception("Execution %s could not be driven; its lease runs out.", name)

    def _beats(self) -> bool:
        held = self.beat()
        if held:
            timeouts.prolong(self.claim.lease_ends - clock.monotonic())
        return held

    # calls

    def call(self, decision: Call) -> None:
        """Run user code, and hear what it told."""
        path = decision.path
        step, undoes = self.step(path), isinstance(decision, Compensate)
        self.values.facts = self.current
        if isinstance(decision, Reconcile):
            self.told(self.caller.reconcile(step, path))
        elif self._is_atomic(decision, step):
            atomics.call(self, step, path, undoes=undoes)
        elif undoes:
            self.told(self.caller.compensation(step, path))
        else:
            self.told(self.caller.forward(step, path))

    def _is_atomic(self, decision: Call, step: Step[..., Any]) -> bool:
        if isinstance(decision, Compensate):
            return step.compensation is not None and step.compensation.atomic
        return step.atomic

    @abstractmethod
    def told(self, outcome: Outcome) -> None:
        """A call has ended."""

    # atomic calls: see atomics.Drives

    @abstractmethod
    def enter(self, seconds: float) -> None:
        """Begin the transaction of an atomic body."""

    @abstractmethod
    def write_outcome(self, start: Snapshot, outcome: Outcome) -> W:
        """Write its outcome in that transaction."""

    @abstractmethod
    def has_landed(self, written: W) -> bool:
        """Whether that commit, whose answer was lost, is in the table."""

    @abstractmethod
    def wrote(self, written: W) -> object:
        """The transaction has committed."""

    def settled(self, x: Snapshot, outcome: Outcome) -> Snapshot:
        """The picture with the outcome of a call."""
        step = self.saga.step(outcome.path) if self.saga else None
        return settle(x, outcome, asks=step is not None and step.reconciler is not None)

    # what is driven

    @property
    def caller(self) -> Caller:
        """What calls the saga's functions."""
        assert self.saga is not None  # noqa: S101 - nothing is called of a saga that is not known
        return Caller(self.saga, self.claim, self.values)

    def step(self, path: str) -> Step[..., Any]:
        """The step of that path."""
        step = self.saga.step(path) if self.saga else None
        if step is None:
            raise LookupError(path)
        return step
