"""Bounds one call of user code: an alarm in the main thread, a hard stop in workers, clean connections afterwards.

    with clean_connections(), bounded(step.timeout) as bound:
        result = function(**arguments)                        # or: bound.run_coroutine(function, **arguments)

The block of `bounded` holds that one call: an alarm that comes before it began or after it returned does not cost the
result. Both are entered in this order, so that the cleaning is never interrupted.
"""

from __future__ import annotations

import asyncio
import faulthandler
import inspect
import logging
import os
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from asgiref.sync import async_to_sync
from django.db import connections

from saga_app.conf import settings
from saga_app.core.errors import Interrupt, StepInterrupted, StepTimeout

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper

logger = logging.getLogger("saga_app")

hard_stop = False
"""Whether a body that no alarm reaches ends the whole process. True in worker processes, which are replaced."""

AGAIN = 0.5  # seconds after which an alarm that was swallowed comes again
PATIENCE = 4  # alarms in which a coroutine may end by itself before its waiting thread is interrupted
LONGEST = 1e8  # seconds; about three years, and no overflow in any timer
NEVER = float("inf")
STDERR = 2  # the descriptor: whatever sys.stderr has been replaced with, or closed

TICK = 0.02  # seconds; an alarm may seem to come so much too early

_bounds: list[Bound] = []  # those of the main thread, the innermost last
_lock = threading.Lock()  # no timer of a call that is over is armed again by another thread


def bounded(seconds: float, *, lease: float = NEVER) -> Bound:
    """Bound the one call in the with block to `seconds`.

    Args:
        seconds: after so long the body is interrupted with StepTimeout.
        lease: seconds for which the lease is held for certain; the hard stop comes no later than the grace after
            them, which `prolong` moves. Without it the timeout alone counts.
    """
    return Bound(seconds, lease)


def depth() -> int:
    """How many bodies the main thread is inside: one saga may be driven from a step of another."""
    return len(_bounds)


def interrupt(level: int = 0) -> None:
    """Interrupt the body that the main thread is inside with StepInterrupted: its lease is lost. From any thread.

    Args:
        level: how many bodies around the one that is meant are to go on.
    """
    with _lock:
        if len(_bounds) > level:
            _bounds[level].lost = True
            _arm_hard_stop(0)
            _bounds[-1].hurry()


def prolong(lease: float) -> None:
    """The lease is held for so many seconds from now: the hard stop may wait as long. From any thread."""
    with _lock:
        if _bounds and _bounds[-1].leased:
            _arm_hard_stop(min(_bounds[-1].seconds - _bounds[-1].elapsed(), lease))


def _seconds() -> float:
    """Seconds that never go back, as the system's own timers count them: a test clock does not hold those still."""
    return os.times().elapsed


def _arm_hard_stop(seconds: float) -> None:
    """Its timer is C code: it ends a process in which no Python runs any more."""
    if hard_stop:
        grace = max(seconds, 0) + settings.HARD_STOP_GRACE
        faulthandler.dump_traceback_later(grace, exit=True, file=STDERR)


class Bound:
    """One bounded call. In the main thread it owns SIGALRM; elsewhere it can only say that the call was late."""

    def __init__(self, seconds: float, lease: float) -> None:
        self.seconds = min(max(seconds, 0.001), LONGEST)
        self.lost = False  # the lease; said by another thread
        self.leased = lease < NEVER
        self._lease = lease
        self._over = True  # an alarm does nothing
        self._main = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
        self._frame: FrameType | None = None  # the one of the with block
        self._spared = False
        self._strikes = 0
        self._struck: type[Interrupt] | None = None
        self._task: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None] | None = None
        self._began = 0.0

    def __enter__(self) -> Self:
        self._began = _seconds()
        if not self._main:
            return self
        caller = inspect.currentframe()
        self._frame = caller.f_back if caller else None
        self._outer_due, self._outer_interval = signal.getitimer(signal.ITIMER_REAL)
        self._outer_handler = signal.signal(signal.SIGALRM, self._on_alarm)
        with _lock:
            _bounds.append(self)
            _arm_hard_stop(min(self.seconds, self._lease))
            signal.setitimer(signal.ITIMER_REAL, min(self.seconds, self._outer_due or NEVER), AGAIN)
        self._over = False
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over = True
        self._frame = None
        if not self._main:
            self._say_if_late()
            return
        with _lock:
            elapsed = self.elapsed()
            signal.setitimer(signal.ITIMER_REAL, 0)
            _bounds.remove(self)
            if hard_stop:
                faulthandler.cancel_dump_traceback_later()
            if _bounds:
                _arm_hard_stop(self._outer_due - elapsed)
        signal.signal(signal.SIGALRM, self._outer_handler)
        if self._outer_due:  # last: from here on an alarm may raise again
            signal.setitimer(signal.ITIMER_REAL, max(self._outer_due - elapsed, 0.001), self._outer_interval)

    def elapsed(self) -> float:
        """Seconds since it began."""
        return _seconds() - self._began

    def hurry(self) -> None:
        """Let the alarm come now."""
        signal.setitimer(signal.ITIMER_REAL, 0.001, AGAIN)

    def _on_alarm(self, number: int, frame: FrameType | None) -> None:
        if self._over:
            return
        elapsed = self.elapsed() + TICK
        if self._outer_due and elapsed >= self._outer_due and callable(self._outer_handler):
            self._outer_handler(number, frame)
        lost = any(bound.lost for bound in _bounds)
        if lost or elapsed >= self.seconds:
            self._strike(StepInterrupted if lost else StepTimeout, frame)

    def _strike(self, kind: type[Interrupt], frame: FrameType | None) -> None:
        """Interrupt the body, unless it is not running: then the frame at work is the with block's, or the engine's."""
        if frame is None or frame.f_code in _OURS:
            return
        engine = frame is self._frame or frame.f_globals.get("__name__", "").startswith("saga_app.")
        if engine and not self._spared:
            self._spared = True  # found there twice, the call is one of C code, which has no frame
            return
        self._strikes += 1
        self._struck = kind
        if self._task is not None and self._strikes <= PATIENCE:
            loop, task = self._task
            if task is not None:
                with suppress(RuntimeError):  # the loop is closed: the coroutine ended
                    loop.call_soon_threadsafe(task.cancel)
                return
        raise kind(f"after {self.seconds:g} s" if kind is StepTimeout else "the lease was lost")

    def run_coroutine(self, function: Callable[..., Awaitable[Any]], /, *args: Any, **kwargs: Any) -> Any:
        """Call an async body and wait for it. Interrupting it cancels its task, so that it can clean up."""

        async def cancellable() -> Any:
            self._task = asyncio.get_running_loop(), asyncio.current_task()
            limit = asyncio.timeout(None if self._main else self.seconds)
            try:
                async with limit:
                    return await function(*args, **kwargs)
            except (asyncio.CancelledError, TimeoutError):
                if self._struck or limit.expired():
                    raise (self._struck or StepTimeout) from None
                raise

        try:
            return async_to_sync(cancellable)()
        finally:
            self._task = None

    def _say_if_late(self) -> None:
        late = self.elapsed() - self.seconds
        if late > 0:
            logger.warning("A step ran %.1f s past its timeout; outside the main thread it is not interrupted.", late)


_OURS = {Bound.__enter__.__code__, Bound.__exit__.__code__}


IDLE, ACTIVE, IN_TRANSACTION = range(3)  # as libpq numbers them


@dataclass(frozen=True, slots=True)
class _State:
    """What a connection is like."""

    raw: object
    shape: tuple[bool, int, int, bool]  # in an atomic block, how deep, with how many savepoints, in autocommit
    transaction: int

    @classmethod
    def of(cls, wrapper: BaseDatabaseWrapper) -> _State:
        depths = len(wrapper.atomic_blocks), len(wrapper.savepoint_ids)
        return cls(wrapper.connection, (wrapper.in_atomic_block, *depths, wrapper.autocommit), _transaction(wrapper))

    def keeps(self, before: _State) -> bool:
        """Nothing was left open since, and no transaction that was open was ended."""
        if before.shape[0] and before.transaction != IDLE:
            return self.shape == before.shape and self.transaction != IDLE
        return self.shape == before.shape and (before.shape[0] or self.transaction in (IDLE, before.transaction))


@contextmanager
def clean_connections() -> Iterator[None]:
    """Leave no connection behind that the code in the with block left in a transaction, or in the middle of a query."""
    before = {wrapper.alias: _State.of(wrapper) for wrapper in connections.all(initialized_only=True)}
    try:
        yield
    finally:
        for wrapper in connections.all(initialized_only=True):
            if wrapper.connection is not None and not wrapper.closed_in_transaction:
                _clean(wrapper, before.get(wrapper.alias))


def _transaction(wrapper: BaseDatabaseWrapper) -> int:
    """What the driver says of the connection, whatever Django believes."""
    raw: Any = wrapper.connection
    if raw is None:
        return IDLE
    if wrapper.vendor == "postgresql":
        return int(raw.info.transaction_status)
    try:
        return IN_TRANSACTION if raw.in_transaction else IDLE
    except Exception:  # noqa: BLE001 - closed behind Django's back
        return IN_TRANSACTION


def _clean(wrapper: BaseDatabaseWrapper, before: _State | None) -> None:
    now = _State.of(wrapper)
    if before is None or before.raw is not now.raw:  # the code in the block connected
        before = _State(now.raw, (False, 0, 0, wrapper.settings_dict["AUTOCOMMIT"]), IDLE)
    if now.transaction == ACTIVE:
        _cancel(wrapper)
    elif now.keeps(before):
        return
    logger.warning("User code left the connection %r in a transaction or a query; it is closed.", wrapper.alias)
    in_atomic, blocks, savepoints, _ = before.shape
    # The owner of a transaction around the call shall find its way out of it; nobody else's is left to do so.
    wrapper.in_atomic_block = in_atomic
    del wrapper.atomic_blocks[blocks:], wrapper.savepoint_ids[savepoints:]
    wrapper.close()


def _cancel(wrapper: BaseDatabaseWrapper) -> None:
    """Tell the server to stop: closing alone would leave the query running there, locks and all."""
    raw: Any = wrapper.connection
    with suppress(Exception):
        raw.cancel_safe(timeout=1.0) if hasattr(raw, "cancel_safe") else raw.cancel()
