"""Real `manage.py qcluster` processes for tests, and what can be asked of them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from saga_app.models import Execution
from tests.processes import Processes, environment


class Cluster:
    """One cluster, whose workers and helpers are known by what they log."""

    def __init__(
        self,
        children: Processes,
        *,
        workers: int = 1,
        saga: dict[str, object] | None = None,
        signing_key: str = "a key for tests",
        name: str = "",
        **q_cluster: object,
    ) -> None:
        self.children = children
        self.workers = workers
        settings = {"workers": workers, "queue_limit": workers, "log_level": "INFO", **q_cluster}
        variables = environment(
            saga=saga,
            q_cluster=settings,
            DJANGO_SETTINGS_MODULE="tests.queue.settings",
            SAGA_TEST_SECRET_KEY=signing_key,
            **({"Q_CLUSTER_NAME": name} if name else {}),
        )
        self.process = children.start("manage.py", "qcluster", env=variables)
        until(lambda: len(self.pids("ready for work")) >= workers and self.pids("pushing tasks"), self.report)

    @property
    def log(self) -> str:
        return self.children.output(self.process)

    def report(self) -> str:
        return self.log

    def pids(self, role: str) -> list[int]:
        """The processes that have said this of themselves, oldest first."""
        return [int(pid) for pid in re.findall(rf"{role} at (\d+)", self.log)]

    def worker_pids(self) -> list[int]:
        return [pid for pid in self.pids("ready for work") if is_alive(pid)]

    def pusher(self) -> int:
        return self.pids("pushing tasks")[-1]

    def sentinel(self) -> int:
        return parent_of(self.pusher())

    def stop(self, limit: float = 30) -> float:
        """SIGTERM to the main process, as a supervisor does it; the seconds it took to end."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(limit)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it did not stop within {limit} s:\n{self.log}") from None
        return time.monotonic() - began

    def kill(self) -> None:
        """Every process of it, at once."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "XZ"
    except OSError:
        return False


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def until(true: Callable[[], object], report: Callable[[], str] = str, limit: float = 30) -> None:
    """Wait for it; fail with the report when it does not come."""
    end = time.monotonic() + limit
    while not true():
        assert time.monotonic() < end, f"it never came true:\n{report()}"
        time.sleep(0.03)


def now(execution: Execution) -> Execution:
    return Execution.objects.get(pk=execution.pk)


def await_end(*executions: Execution, cluster: Cluster, limit: float = 40) -> list[str]:
    """Wait until all are terminal or stuck; their statuses."""
    ids = [execution.pk for execution in executions]
    open_ = Execution.objects.filter(pk__in=ids).exclude(status__in=["completed", "failed", "cancelled", "stuck"])
    until(lambda: not open_.exists(), cluster.report, limit)
    return [now(execution).status for execution in executions]
