"""Kills workers in the middle of their work, and only then: an idle one holds the queue's lock, and all would stop."""

from __future__ import annotations

import os
import random
import signal
import socket
from collections import Counter
from contextlib import suppress

from django.db.models import Q

from project.processes import Child
from saga_app.models import Execution, StepRecord

IN_A_BODY = Q(status="running") | Q(compensation_status="running")


class Reaper:
    """SIGKILLs workers of one cluster, and counts where they were."""

    def __init__(self) -> None:
        self.kills: Counter[str] = Counter()
        self.missed = 0

    def strike(self, cluster: Child) -> bool:
        """Kill one worker that is inside a body; False when none is, or when it got out just in time."""
        held = StepRecord.objects.filter(IN_A_BODY, execution__lease_holder__isnull=False)
        candidates = list(held.select_related("execution"))
        random.shuffle(candidates)
        for body in candidates:
            pid = _pid(body.execution.lease_holder or "", cluster)
            if pid is not None:
                return self._strike(pid, body.execution)
        return False

    def _strike(self, pid: int, held: Execution) -> bool:
        with suppress(ProcessLookupError):
            # Held still, it cannot become idle between our look and the blow.
            os.kill(pid, signal.SIGSTOP)
            body = StepRecord.objects.filter(
                IN_A_BODY,
                execution=held,
                execution__lease_holder=held.lease_holder,
                execution__writes=held.writes,
            ).first()
            os.kill(pid, signal.SIGKILL if body else signal.SIGCONT)
            if body:
                self.kills[body.path if body.status == "running" else f"undoing {body.path}"] += 1
                return True
        self.missed += 1
        return False

    def raze(self, cluster: Child) -> None:
        """Kill the whole cluster: its main process, its guard, its pusher, its monitor and every worker."""
        self.kills["the whole cluster"] += 1
        cluster.kill()

    @property
    def workers(self) -> int:
        """How many single workers were killed."""
        return self.kills.total() - self.kills["the whole cluster"]


def _pid(holder: str, cluster: Child) -> int | None:
    """The holder's process, if it is one of this cluster's."""
    host, pid, _token = holder.rsplit(":", 2)
    if host != socket.gethostname():
        return None
    with suppress(ProcessLookupError):
        return int(pid) if os.getpgid(int(pid)) == cluster.group else None
    return None
