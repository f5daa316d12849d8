"""Starts other processes that use the databases of the running test, and ends what is left of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from django.db import connections

ROOT = Path(__file__).parent.parent
NAMES = {"default": "SAGA_TEST_DB_NAME", "outside": "SAGA_TEST_OUTSIDE_NAME", "other": "SAGA_TEST_OTHER_NAME"}


def environment(
    *, saga: Mapping[str, object] | None = None, q_cluster: Mapping[str, object] | None = None, **more: str
) -> dict[str, str]:
    """The variables a child needs to open the same test databases; saga and q_cluster are settings of its own."""
    names = {variable: str(connections[alias].settings_dict["NAME"]) for alias, variable in NAMES.items()}
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "PYTHONUNBUFFERED": "1",
        "PYTHONWARNINGS": "default",
        "SAGA_TEST_SAGA": json.dumps(dict(saga or {})),
        "SAGA_TEST_Q_CLUSTER": json.dumps(dict(q_cluster or {})),
        **names,
        **more,
    }


class Processes:
    """The children of one test. Each leads a process group, so that its own children end with it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[subprocess.Popen[bytes]] = []

    def start(self, *arguments: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        """`python <arguments>` in the background, from the project's root: start("manage.py", "qcluster")."""
        with self.log(len(self.started)).open("wb") as log:
            child = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=ROOT,
                env=dict(env) if env is not None else environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.started.append(child)
        return child

    def log(self, number: int) -> Path:
        return self.folder / f"process-{number}.log"

    def output(self, child: subprocess.Popen[bytes]) -> str:
        """What it has printed so far, errors included."""
        return self.log(self.started.index(child)).read_text(errors="replace")

    def end(self) -> None:
        """Kill every group that is left, by its id."""
        for child in self.started:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()


@contextmanager
def processes(folder: Path) -> Iterator[Processes]:
    """Children that end when the with block does."""
    family = Processes(folder)
    try:
        yield family
    finally:
        family.end()
