"""Runs the tests on SQLite and on PostgreSQL and says at the end, in one line, how it went.

`python -m tests.run [--all] [--only sqlite|postgres] [-n 2] [anything pytest takes]`. Tests that share the machine well
run side by side; those with worker processes of their own run one after another. DATABASE_URL names a PostgreSQL to
use; without it the one from the dev extra is started for the time of the run.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests import postgres

ROOT = Path(__file__).parent.parent
ALONE = "acceptance or browser or redis"  # they start processes and watch the clock
# No database is used here, or none is what is tested, so once is enough, unless somebody asks for them.
PURE = ["tests/browser", "tests/core", "tests/house", "tests/themes", "tests/typing"]
NOTHING_COLLECTED = 5
OUTCOMES_KNOWN = (0, 1, NOTHING_COLLECTED)  # pytest's other codes say that the run itself broke


@dataclass
class Tally:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def add(self, other: Tally) -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.run", description=__doc__)
    parser.add_argument("--only", choices=["sqlite", "postgres"], help="one database instead of both")
    parser.add_argument("--all", action="store_true", help="the slow tests too")
    parser.add_argument("-n", default="2", help="how many run side by side (2)")
    options, for_pytest = parser.parse_known_args(arguments)
    began = time.monotonic()
    tallies = {engine: on(engine, options, for_pytest) for engine in engines(options.only)}
    total = Tally()
    print()
    for engine, tally in tallies.items():
        print(f"{engine + ':':<10}{tally}")
        total.add(tally)
    print(f"{'took:':<10}{time.monotonic() - began:.0f} s\n")
    print(total)
    if not (total.passed if for_pytest else all(tally.passed for tally in tallies.values())):
        print("No test passed on one of the databases: nothing is proved.", file=sys.stderr)
        return 1
    return 1 if total.failed else 0


def engines(only: str | None) -> list[str]:
    return [only] if only else ["sqlite", "postgres"]


def on(engine: str, options: argparse.Namespace, for_pytest: list[str]) -> Tally:
    """Both halves of the tests on one database."""
    speed = "" if options.all else " and not slow"
    once = [f"--ignore={folder}" for folder in PURE] if engine == "postgres" and not for_pytest else []
    tally = Tally()
    with environment(engine) as variables:
        for title, chosen, workers in [
            ("side by side", f"not ({ALONE}){speed}", ["-n", options.n]),
            ("one by one", f"({ALONE}){speed}", ["-n", "0"]),
        ]:
            print(f"\n== {engine}: {title}", flush=True)
            tally.add(pytest(["-m", chosen, *workers, *once, *for_pytest], variables))
    return tally


@contextmanager
def environment(engine: str) -> Iterator[dict[str, str]]:
    variables = {**os.environ, "SAGA_TEST_DATABASE": engine}
    if engine == "sqlite" or variables.get("DATABASE_URL"):
        yield variables
    else:
        with postgres.server() as address:
            yield {**variables, "DATABASE_URL": address}


def pytest(arguments: list[str], variables: dict[str, str]) -> Tally:
    with tempfile.TemporaryDirectory(prefix="saga-report-") as folder:
        report = Path(folder, "report.xml")
        command = [sys.executable, "-m", "pytest", f"--junit-xml={report}", *arguments]
        code = subprocess.run(command, cwd=ROOT, env=variables, check=False).returncode
        tally = count(report)
    if code not in OUTCOMES_KNOWN or (code == 1 and not tally.failed):
        print(f"pytest ended with code {code}", file=sys.stderr)
        tally.failed += 1
    return tally


def count(report: Path) -> Tally:
    """What pytest's report says; a test that failed twice (itself and its clearing up) counts once."""
    if not report.exists():
        return Tally()
    cases = ET.parse(report).getroot().iter("testcase")  # noqa: S314 - pytest wrote it a moment ago
    tally = Tally()
    seen: dict[tuple[str | None, str | None], str] = {}
    for case in cases:
        outcome = next((word for word in ("failure", "error", "skipped") if case.find(word) is not None), "passed")
        place = (case.get("classname"), case.get("name"))
        if seen.get(place) not in ("failure", "error"):
            seen[place] = outcome
    for outcome in seen.values():
        match outcome:
            case "passed":
                tally.passed += 1
            case "skipped":
                tally.skipped += 1
            case _:
                tally.failed += 1
    return tally


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the database is stopped as well
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
