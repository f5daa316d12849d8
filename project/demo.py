"""The demo: a filled shop, two clusters and a site, for as long as somebody looks at it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.error import URLError
from urllib.request import urlopen

from django.conf import settings

from project import samples
from project.processes import Child

SITE = {
    "SAGA_LEASE": "5",  # a visitor who kills a worker wants to see what follows
    "SAGA_HARD_STOP_GRACE": "1",
}
PATIENCE = 90.0


class ChildEnded(Exception):
    """A cluster or the site is gone, though nobody asked it to end."""


@contextmanager
def children(port: int) -> Iterator[list[Child]]:
    """The clusters and the site, for as long as the block lasts."""
    started: list[Child] = []
    try:
        for name in ("saga", "labels"):
            env = {**SITE, "Q_CLUSTER_NAME": name}
            started.append(Child("qcluster", log=settings.DATA_DIR / f"qcluster-{name}.log", env=env))
        site = ["runserver", "--noreload", f"127.0.0.1:{port}"]
        started.append(Child(*site, log=settings.DATA_DIR / "site.log", env=SITE))
        yield started
    finally:
        for child in reversed(started):
            child.stop()


def await_site(port: int, family: list[Child]) -> None:
    """Wait until the site answers."""

    def answers() -> bool:
        try:
            with urlopen(f"http://127.0.0.1:{port}/", timeout=5):
                return True
        except (URLError, TimeoutError, ConnectionError):
            return False

    await_true(answers, family)


def place_samples(family: list[Child]) -> None:
    """Bring an execution into every state in which one can stay."""
    samples.place_all(lambda condition: await_true(condition, family))


def watch(family: list[Child]) -> None:
    """Stay as long as all children do."""
    await_true(lambda: False, family, patience=float("inf"))


def await_true(condition: Callable[[], bool], family: list[Child], *, patience: float = PATIENCE) -> None:
    """Wait for a condition, while every child lives; on a slow machine go on without it."""
    deadline = time.monotonic() + patience
    while not condition() and time.monotonic() < deadline:
        for child in family:
            if child.has_ended():
                raise ChildEnded(f"manage.py {child.arguments[0]} has ended:\n{child.last_words()}")
        time.sleep(0.3)
