"""Starts a Redis of the machine's own for as long as a with block lasts."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAM = shutil.which("redis-server")


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """An empty server on a free port of the loopback; nothing is kept on disk. Yields its URL."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    home = tempfile.mkdtemp(prefix="redis-", dir=folder)
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", home]
    command = [PROGRAM or "redis-server", *options, "--logfile", str(Path(home, "log"))]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, process_group=0)
    try:
        await_answer(port)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        child.kill()
        child.wait()


def await_answer(port: int) -> None:
    deadline = time.monotonic() + 10
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return
