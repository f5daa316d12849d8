"""The demo shows an order in every state, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.processes import ROOT
from tests.settings import ENGINE

pytestmark = [
    pytest.mark.acceptance,
    pytest.mark.skipif(ENGINE != "sqlite", reason="the demo brings its own database"),
]
STATES = "3 cancelled, 11 completed, 8 failed, 1 pending, 7 stuck, 1 suspended, 10 waiting"
AWAKE = STATES.replace("7 stuck, 1 suspended, 10 waiting", "1 running, 7 stuck, 1 suspended, 9 waiting")


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "DJANGO_SETTINGS_MODULE": "project.settings", "SHOP_DATA": str(folder), "DATABASE_URL": ""}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def left_of(folder: Path) -> list[str]:
    """Processes that were told to keep their data in that folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"SHOP_DATA={folder}".encode() in (process / "environ").read_bytes():
                found.append(process.name)
        except OSError:  # it ended, or is not ours
            continue
    return found


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_it_fills_the_shop_and_stops_everything_it_started(tmp_path: Path, stop: signal.Signals) -> None:
    command = [sys.executable, "manage.py", "demo", "--port", str(free_port())]
    with (tmp_path / "output").open("w+") as output:
        demo = subprocess.Popen(command, cwd=ROOT, env=environment(tmp_path), stdout=output, stderr=output)
        try:
            deadline = time.monotonic() + 90
            while "Ctrl-C stops" not in (said := (tmp_path / "output").read_text()):
                assert demo.poll() is None, said
                assert time.monotonic() < deadline, said
                time.sleep(0.2)
            assert STATES in said or AWAKE in said  # one of them wakes every ten seconds
            assert len(left_of(tmp_path)) > 10  # two clusters and the site
        finally:
            demo.send_signal(stop)
            demo.wait(60)
    assert demo.returncode == 0
    assert (tmp_path / "output").read_text().endswith("Stopped.\n")
    assert left_of(tmp_path) == []


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        command = [sys.executable, "manage.py", "demo", "--port", str(taken.getsockname()[1])]
        demo = subprocess.run(
            command, cwd=ROOT, env=environment(tmp_path), check=False, capture_output=True, text=True, timeout=60
        )
    assert demo.returncode == 1
    assert "is taken; choose another with --port" in demo.stderr
