"""Atomic calls: the body's database work, its record, and perhaps the end, in one transaction (design §8.3).

The order of locks is the rule: an unlocked look that the claim is ours, the body, and the fenced UPDATE last. Were it
first, it would block heartbeats, signals and cancels for the whole body, and deadlock with views.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from django.db import connections, transaction

from saga_app import timeouts
from saga_app.bodies import run
from saga_app.core.arranging import bound
from saga_app.core.errors import Interrupt, LeaseLost, SagaError, StepInterrupted
from saga_app.core.failures import ErrorInfo, describe
from saga_app.core.outcomes import Direction, How, Outcome, classify
from saga_app.core.snapshot import Snapshot
from saga_app.core.status import Status, StepStatus
from saga_app.store.transactions import DatabaseFault, Passing, drop_broken_connection, durable, is_inside

if TYPE_CHECKING:
    from saga_app.bodies import Caller
    from saga_app.core.policy import Policy
    from saga_app.core.steps import Step
    from saga_app.store.leases import Lease
    from saga_app.values import Values

logger = logging.getLogger("saga_app")

T = TypeVar("T")

TRIES = 3  # of the whole transaction, after errors of the database that pass
QUERY_CANCELED = "57014"  # PostgreSQL's own word for a statement that ran into its timeout


def _passes(error: BaseException) -> bool:
    """Whether the whole transaction is worth running again at once; one that took its time is not."""
    late = getattr(error.__cause__, "sqlstate", None) == QUERY_CANCELED
    return isinstance(error, Passing) and not late


class TransactionBroken(SagaError):
    """The body left its transaction so that it cannot commit."""


class _Final(Exception):
    def __init__(self, how: How, error: ErrorInfo) -> None:
        self.how, self.error = how, error


class Drives(Protocol[T]):
    """Who drives the call, of an execution or of one queued step of it. T: what is written, and kept until it is in."""

    current: Snapshot

    @property
    def claim(self) -> Lease: ...
    @property
    def values(self) -> Values: ...
    @property
    def caller(self) -> Caller: ...

    def enter(self, seconds: float) -> None:
        """Begin the transaction: an unlocked look that the claim is ours, and limits of so many seconds."""

    def write_outcome(self, start: Snapshot, outcome: Outcome) -> T:
        """Write the outcome in it, fenced: the last locks that are taken."""

    def has_landed(self, written: T) -> bool:
        """Whether a commit whose answer was lost is in the table after all (design §7.2)."""

    def wrote(self, written: T) -> object:
        """It has committed."""

    def told(self, outcome: Outcome) -> None:
        """It has not, and this is the outcome."""


def call(drive: Drives[Any], step: Step[..., Any], path: str, *, undoes: bool) -> None:
    """Call an atomic body, or an atomic compensation, and commit its record with it; or record that it failed."""
    atomic = _AtomicCall(drive, step, path, undoes=undoes)
    for left in reversed(range(TRIES)):
        error = atomic.try_once()
        if error is None:
            return
        if not left or not _passes(error):
            drive.told(atomic.outcome_of(error))
            return
        logger.warning("%s: the transaction of %s is run again: %s", drive.claim.execution_id, path, error)
        drop_broken_connection(drive.claim.using)


def _broken_by(swallowed: BaseException | None) -> TransactionBroken:
    said = f": it went on after {type(swallowed).__name__}: {swallowed}" if swallowed else ""
    return TransactionBroken(f"the body broke its transaction, so nothing of it was kept{said}")


class _AtomicCall:
    """One atomic call: what to run, and what its commit has to say."""

    def __init__(self, drive: Drives[Any], step: Step[..., Any], path: str, *, undoes: bool) -> None:
        self.drive, self.step, self.path = drive, step, path
        self.direction = Direction.COMPENSATE if undoes else Direction.FORWARD
        self.start = drive.current if undoes else self._counted(drive.current)

    def _counted(self, x: Snapshot) -> Snapshot:
        """The picture with this attempt: where no intent was written, record and count come with the commit."""
        record = x.record(self.path)
        if record is not None and record.status == StepStatus.RUNNING:
            return x
        now = self.drive.claim.moment()
        if record is None:
            self.drive.values.facts = x
            x = bound(x, self.step, self.path, None, now)
        number = x.known(self.path).attempt + 1
        running = {"status": StepStatus.RUNNING, "attempt": number, "due_at": None}
        return x.but(status=Status.RUNNING, started_at=x.started_at or now).with_record(self.path, **running)

    def try_once(self) -> BaseException | None:
        """Run the whole transaction. None: it has committed. An error: it has rolled back, so nothing happened."""
        drive, claim = self.drive, self.drive.claim
        committed: list[bool] = []
        pending: list[Any] = []
        try:
            with timeouts.clean_connections(), durable(claim.using):
                transaction.on_commit(lambda: committed.append(True), using=claim.using)  # the first hook: ours
                drive.enter(self.policy.timeout or timeouts.LONGEST / 1000)
                pending.append(self._body_and_record())
                doomed = connections[claim.using].needs_rollback
            committed += [True] * (is_inside() and not doomed)  # a TestCase commits nothing: leaving the block counts
        except LeaseLost:
            raise
        except StepInterrupted as error:
            raise LeaseLost("lost while the body ran") from error
        except BaseException as error:
            if not committed and not self._landed(error, pending):
                return error
            if committed:
                logger.exception("%s: a commit hook of %s raised.", claim.execution_id, self.path)
        else:
            if not committed:
                return TransactionBroken("the body marked its transaction for rollback, so nothing of it was kept")
        drive.wrote(pending[-1])
        return None

    def _landed(self, error: BaseException, pending: list[Any]) -> bool:
        """Whether a commit whose answer was lost is in the table after all (design §7.2)."""
        if not pending or not isinstance(error, DatabaseFault):
            return False
        drop_broken_connection(self.drive.claim.using)
        return self.drive.has_landed(pending[-1])

    def _body_and_record(self) -> Any:
        drive = self.drive
        drive.values.facts = self.start
        try:
            with drive.caller.bound(self.policy):
                function, arguments = self._prepared()
        except (*DatabaseFault, Interrupt):
            raise
        except BaseException as error:
            raise _Final(How.NOT_CALLED, describe(error)) from error
        if drive.claim.lapsed:
            raise LeaseLost("the lease was over before the body could be called")
        locked = connections[drive.claim.using].vendor == "sqlite"  # the write lock is the lease: no heartbeat gets in
        with drive.caller.bound(self.policy, locked=locked) as bound:
            value = run(bound, function, arguments)
        self._refuse_broken()
        outcome = drive.caller.returned(self.step, self.path, self.direction, value)
        if outcome.how is How.UNSTORABLE and outcome.error:
            raise _Final(How.ROLLED_BACK, outcome.error)
        return drive.write_outcome(self.start, outcome)

    def _prepared(self) -> tuple[Any, dict[str, Any]]:
        """The function and its arguments; a first attempt without an intent binds them here."""
        caller, record = self.drive.caller, self.start.known(self.path)
        if self.direction is Direction.COMPENSATE:
            return caller.undo(self.step, self.path)()
        if record.arguments_text is None:
            call = caller.prepare(self.step, self.path)
            stored = {"arguments_text": call.arguments_text, "idempotency_key": call.key}
            self.start = self.drive.values.facts = self.start.with_record(self.path, **stored)
        return caller.body(self.step, self.path)()

    def _refuse_broken(self) -> None:
        """A body that swallowed a database error has a transaction that cannot commit: name the error."""
        connection = connections[self.drive.claim.using]
        if connection.needs_rollback:
            cause = getattr(connection, "rollback_exc", None)
            raise _broken_by(cause) from cause

    def outcome_of(self, error: BaseException) -> Outcome:
        """The outcome of a transaction that rolled back: a failed attempt that did nothing."""
        drive = self.drive
        drive.current = self.start
        if isinstance(error, _Final):
            at = drive.claim.moment()
            return Outcome(path=self.path, direction=self.direction, how=error.how, at=at, error=error.error)
        how, retry = classify(self.policy, error)
        how = How.REJECTED if how is How.REJECTED else How.ROLLED_BACK
        retry = retry or _passes(error)
        record = self.start.known(self.path)
        attempt = record.compensation_attempt if self.direction is Direction.COMPENSATE else record.attempt
        policy = self.policy if retry else None
        if isinstance(error, transaction.TransactionManagementError) and error.__cause__ is not None:
            went_on, error = error, _broken_by(error.__cause__)  # its next query says only that there was an error
            error.__cause__ = went_on
        return drive.caller.failed(self.path, self.direction, error, how, policy, attempt)

    @property
    def policy(self) -> Policy:
        """How hard this call is tried."""
        undo = self.step.compensation
        return undo.policy if self.direction is Direction.COMPENSATE and undo else self.step.policy
