"""The words in which acceptance tests are told: drive executions with real processes, and see what becomes of them."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.db.models import Q

from saga_app import VerbRefused, engine, testing
from saga_app.core.saga import Saga
from saga_app.core.status import DRIVEN
from saga_app.models import Execution, StepRecord
from saga_app.store.transactions import alias
from tests import clusters, ledger
from tests.faults import deliver_twice, drop_backends, kill_worker, lapse, lease, pause_worker
from tests.forking import RAISED, elsewhere, race
from tests.ledger import calls, clear, keys, order, order_of, paths, pids, seen
from tests.promises import check_promises
from tests.reading import (
    ABANDONED,
    CANCELLED,
    DONE,
    NOTHING_OWED,
    UNWOUND,
    bytes_in_database,
    child,
    children,
    end,
    error,
    events,
    failed_steps,
    halted,
    held,
    now,
    outcomes,
    rec,
    records,
    rows_of,
    same,
    waiting_at,
    why,
)
from tests.script import OK, block, die, do, fail, fix, hang, meet, ok, per, reject, until
from tests.settings import SCRATCH
from tests.shared_clock import clock
from tests.worker import Crew, begin_working, drive_what_is_due, is_anybody_busy, working

__all__ = [
    "ABANDONED",
    "CANCELLED",
    "DONE",
    "NOTHING_OWED",
    "OK",
    "UNWOUND",
    "block",
    "bytes_in_database",
    "calls",
    "check_promises",
    "child",
    "children",
    "clear",
    "clock",
    "cluster",
    "deliver_twice",
    "die",
    "do",
    "drop_backends",
    "elapsed",
    "elsewhere",
    "end",
    "engine",
    "error",
    "events",
    "fail",
    "failed_steps",
    "fix",
    "halted",
    "hang",
    "held",
    "keys",
    "kill_worker",
    "lapse",
    "lease",
    "logged",
    "meet",
    "now",
    "ok",
    "order",
    "order_of",
    "outcomes",
    "paths",
    "pause_worker",
    "per",
    "pids",
    "race",
    "reached",
    "rec",
    "records",
    "reject",
    "rows_of",
    "run",
    "same",
    "seen",
    "settle",
    "testing",
    "told",
    "until",
    "waiting_at",
    "why",
    "work",
    "working",
]

LOG = SCRATCH / f"log-{os.getpid()}.txt"  # every process of a test logs here
ENTRY = "\x1e"  # stands before each entry of the log
PATIENCE = 60.0  # seconds after which what was waited for will not come
SOON = timedelta(seconds=2)  # what is due so soon is waited for: the end of a lease's grace, a short delay

_began = [0.0]


def began() -> None:
    """A test begins."""
    _began[0] = time.monotonic()


def elapsed() -> float:
    """Seconds since the test began."""
    return time.monotonic() - _began[0]


def work(n: int = 1, sagas: Sequence[Saga] | None = None, skip: bool = False, *, patience: float = PATIENCE) -> None:
    """Let n real worker processes work until nothing is due; a dead one is replaced.

    In a thread, which cannot fork safely, this process does the work itself.

    Args:
        n: how many.
        sagas: all they know.
        skip: stop the clock, and move it over waits until nothing waits.
        patience: seconds after which it is taken for a worker that goes on for ever.
    """
    if threading.current_thread() is not threading.main_thread():
        drive_what_is_due()
        return
    if skip:
        clock.set(clock.now())
    _until_idle(Crew(n, until_idle=True, sagas=sagas, skip=skip), patience)


def _until_idle(crew: Crew, patience: float) -> None:
    ends = time.monotonic() + patience
    crew.begin()
    try:
        while not crew.ended() and time.monotonic() < ends:
            time.sleep(0.005)
        if crew.code != 0:
            why_not = "a worker's own loop raised" if crew.code == RAISED else f"still at work after {patience:g} s"
            raise AssertionError(f"{why_not}:\n{log()[-8000:]}")
    finally:
        crew.stop()


def run(saga: Saga, n: int = 1, **values: Any) -> Execution:
    """clear(), start, work(n); the execution."""
    clear()
    x = saga.start(**values)
    work(n)
    return x


@contextmanager
def cluster(n: int = 1, **q_cluster: Any) -> Iterator[int]:
    """A real qcluster in the background; its main process."""
    with clusters.cluster(n, **q_cluster) as pid:
        yield pid


def settle() -> None:
    """Until nothing is due or driven, and no body runs (one that has lost its execution included)."""
    begin_working()
    ends = time.monotonic() + PATIENCE
    while not _is_settled():
        if time.monotonic() >= ends:
            raise AssertionError(f"not settled after {PATIENCE:g} s: {ledger.running()}\n{log()[-8000:]}")
        time.sleep(0.02)


def _is_settled() -> bool:
    """Rows first: a body that is found not to run cannot be begun by a claim that came before the look."""
    moment = clock.now() + (timedelta() if clock.was_moved() else SOON)
    rows = Execution.objects.using(alias()).filter(Q(lease_holder__isnull=False) | Q(due_at__lte=moment))
    driving = StepRecord.objects.using(alias()).filter(execution__status__in=DRIVEN)
    steps = driving.filter(Q(row_holder__isnull=False) | Q(row_due_at__lte=moment))
    return not rows.exists() and not steps.exists() and not ledger.running() and not is_anybody_busy()


def reached(mark: str) -> None:
    """Until the ledger has it: "call began"."""
    begin_working()
    ends = time.monotonic() + PATIENCE
    while not ledger.has(mark):
        assert time.monotonic() < ends, f"never came to {mark!r}\n{log()[-8000:]}"
        time.sleep(0.01)


def told(call: Callable[..., Any], *args: Any, **values: Any) -> str:
    """The code with which a verb was refused; empty when it was accepted."""
    try:
        call(*args, **values)
    except VerbRefused as refusal:
        return refusal.code
    return ""


def log() -> str:
    """What all processes of this test have logged."""
    with suppress(FileNotFoundError):
        return Path(LOG).read_text(errors="replace")
    return ""


def logged(text: str, level: str = "") -> bool:
    """Whether some process has logged this text, traceback included, at that level."""
    return any(text in entry and entry.startswith(level) for entry in log().split(ENTRY))
