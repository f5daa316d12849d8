"""A real qcluster of django-q2, forked from the test so that it knows the sagas defined there."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from tests.forking import fork

STOPPING = 5.0  # seconds a cluster has to end when told to


@contextmanager
def cluster(n: int, **q_cluster: Any) -> Iterator[int]:
    """Yields the number of its main process. Options as in Q_CLUSTER, in lower case."""
    options = {"workers": n, "queue_limit": n, **q_cluster}
    pid = fork(lambda: _main(options))
    try:
        yield pid
    finally:
        _stop(pid)


def _main(options: dict[str, Any]) -> None:
    """What `manage.py qcluster` does, with settings that are read here and not at import."""
    os.setsid()
    from django_q.cluster import Cluster
    from django_q.conf import Conf, logger

    for name, value in options.items():
        setattr(Conf, name.upper(), value)
    logger.propagate = True
    logger.setLevel(logging.INFO)
    running = Cluster()
    running.start()
    running.sentinel.join()


def _stop(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    ends = time.monotonic() + STOPPING
    ended = False
    while not ended and time.monotonic() < ends:
        ended = os.waitpid(pid, os.WNOHANG)[0] == pid
        time.sleep(0.02)
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    if not ended:
        os.waitpid(pid, 0)
