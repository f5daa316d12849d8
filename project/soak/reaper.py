"""Kills workers in the middle of their work, and only then: an idle one holds the queue's lock, and all would stop."""

from __future__ import annotations

import os
import random
import signal
import socket
from collections import Counter
from contextlib import suppress

from django.db.models import Q

from project.soak.clusters import Clusters
from saga_app.models import StepRecord

IN_A_BODY = Q(status="running") | Q(compensation_status="running")


ALL = "every cluster"


class Reaper:
    """SIGKILLs workers, and counts where they were."""

    def __init__(self) -> None:
        self.kills: Counter[str] = Counter()
        self.missed = 0

    def strike(self, clusters: Clusters) -> bool:
        """Kill one worker that is inside a body; False when none is, or when it got out just in time."""
        held = StepRecord.objects.filter(IN_A_BODY).exclude(row_holder=None, execution__lease_holder=None)
        candidates = list(held.select_related("execution"))
        random.shuffle(candidates)
        for body in candidates:
            pid = _pid(_holder(body), clusters)
            if pid is not None:
                return self._strike(pid, body)
        return False

    def _strike(self, pid: int, body: StepRecord) -> bool:
        with suppress(ProcessLookupError):
            # Held still, it cannot become idle between our look and the blow.
            os.kill(pid, signal.SIGSTOP)
            same = StepRecord.objects.filter(IN_A_BODY, pk=body.pk, attempts_text=body.attempts_text)
            if body.row_holder:  # of a queued step the record itself says who is at it
                same = same.filter(row_holder=body.row_holder, row_epoch=body.row_epoch)
            else:
                held = body.execution
                same = same.filter(execution__lease_holder=held.lease_holder, execution__writes=held.writes)
            is_inside = same.exists()
            os.kill(pid, signal.SIGKILL if is_inside else signal.SIGCONT)
            if is_inside:
                self.kills[body.name if body.status == "running" else f"undoing {body.name}"] += 1
                return True
        self.missed += 1
        return False

    def raze(self, clusters: Clusters) -> None:
        """Kill all clusters: their main processes, guards, pushers, monitors and every worker."""
        self.kills[ALL] += 1
        clusters.kill()

    @property
    def workers(self) -> int:
        """How many single workers were killed."""
        return self.kills.total() - self.kills[ALL]


def _holder(body: StepRecord) -> str:
    """Who is inside: of a queued step its own worker, of any other the one that drives the execution."""
    return body.row_holder or ("" if body.row_due_at else body.execution.lease_holder or "")


def _pid(holder: str, clusters: Clusters) -> int | None:
    """The holder's process, if it is one of these clusters'."""
    host, _, rest = holder.partition(":")
    if host != socket.gethostname() or not rest:
        return None
    pid = int(rest.split(":")[0])
    return pid if clusters.have(pid) else None
