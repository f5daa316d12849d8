"""Measures the console's pages over two million executions: queries, time in the database, and in all.

The floors are of the same run: one execution read by its id, and Django's own list of groups, of which there is none.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import django

COUNT, OPEN, STUCK = 2_000_000, 10_000, 1_000
OK = 200
FLOORS = 10  # times as many rounds: all ratios hang on these two


def main(rounds: int, count: int = COUNT) -> None:
    """Print one line for each page, the slowest last."""
    django.setup()
    from django.db import connection
    from django.test.utils import get_runner, setup_test_environment

    from tests.crowd import Crowd, vacuumed
    from tests.settings import SCRATCH

    if connection.vendor != "postgresql":
        return
    SCRATCH.mkdir(parents=True, exist_ok=True)
    setup_test_environment()
    runner = get_runner(django.conf.settings)(verbosity=0, interactive=False)
    databases = runner.setup_databases()
    try:
        began = time.perf_counter()
        Crowd(count, count * OPEN // COUNT, count * STUCK // COUNT).fill()
        vacuumed()
        took = time.perf_counter() - began
        print(f"{count:,} executions, {count * OPEN // COUNT:,} of them open, made in {took:.0f} s")
        report(rounds)
    finally:
        runner.teardown_databases(databases)
        shutil.rmtree(SCRATCH, ignore_errors=True)


def report(rounds: int) -> None:
    """The table, with its floors above it."""
    from django.contrib.auth.models import User
    from django.test import Client

    from saga_app.models import Execution
    from tests.console import pages

    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    some = Execution.objects.order_by("-created_at").values_list("pk", flat=True)[:1].get()
    row = measured(lambda: Execution.objects.get(pk=some), FLOORS * rounds)
    stock = measured(lambda: shown(client, "/admin/auth/group/"), FLOORS * rounds)
    print(f"floors: an execution by its id {row[1] * 1000:.2f} ms (database), an empty list {stock[2] * 1000:.0f} ms")
    print(f"{'':<62}{'queries':>8}{'db ms':>8}{'rows by id':>12}{'ms':>8}{'empty lists':>13}")
    lines = [(title, *measured(lambda url=url: shown(client, url), rounds)) for title, url in pages(client)]
    for title, queries, database, wall in sorted(lines, key=lambda line: line[2]):
        floors = f"{database / row[1]:12.1f}{wall * 1000:8.0f}{wall / stock[2]:13.1f}"
        print(f"  {title[:60]:<60}{queries:8}{database * 1000:8.1f}{floors}", flush=True)


def shown(client: Any, address: str) -> None:
    """Ask for a page, which is there."""
    if (code := client.get(address).status_code) != OK:
        raise RuntimeError(f"{address} answers {code}")


def measured(action: Callable[[], Any], rounds: int) -> tuple[int, float, float]:
    """Queries, and the medians of the seconds in the database and in all, of an action done once before."""
    spent = [_once(action) for _ in range(rounds + 1)][1:]
    queries, database, wall = zip(*spent, strict=True)
    return max(queries), median(database), median(wall)


def _once(action: Callable[[], Any]) -> tuple[int, float, float]:
    from django.db import connection

    times: list[float] = []

    def timed(execute: Any, *arguments: Any) -> Any:
        began = time.perf_counter()
        try:
            return execute(*arguments)
        finally:
            times.append(time.perf_counter() - began)

    began = time.perf_counter()
    with connection.execute_wrapper(timed):
        action()
    return len(times), sum(times), time.perf_counter() - began


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
