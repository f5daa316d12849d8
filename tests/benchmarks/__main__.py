"""`python -m tests.benchmarks [--only sqlite|postgres] [--rounds 7]`: three-step executions against plain commits.

`--console` instead: the operators' pages over two million executions in PostgreSQL, against one row and an empty list.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests import postgres


def main(arguments: list[str]) -> int:
    """Measure on each database, in a process of its own."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--only", choices=["sqlite", "postgres"], help="one database instead of both")
    parser.add_argument("--rounds", default="7", help="rounds of which the median is shown (7)")
    parser.add_argument("--console", action="store_true", help="the operators' pages instead; takes some minutes")
    options = parser.parse_args(arguments)
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    print(f"{machine}; medians of {options.rounds} rounds\n", flush=True)
    what = "console" if options.console else "measure"
    for engine in ["postgres"] if options.console else [options.only] if options.only else ["sqlite", "postgres"]:
        with environment(engine) as variables:
            command = [sys.executable, "-m", f"tests.benchmarks.{what}", options.rounds]
            if code := subprocess.run(command, env=variables, check=False).returncode:
                return code
    return 0


@contextmanager
def environment(engine: str) -> Iterator[dict[str, str]]:
    """What tells the measuring process its database: one that waits for the disk, as a real one does."""
    variables = {**os.environ, "SAGA_TEST_DATABASE": engine, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    if engine == "sqlite" or variables.get("DATABASE_URL"):
        yield variables
        return
    with postgres.server(hasty=False) as address:
        yield {**variables, "DATABASE_URL": address}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
