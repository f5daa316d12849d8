"""Measures on one database: executions of three steps, in plain one-row commits of the same minute."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import django

EACH = 60  # executions a round, and commits of its floor


def main(rounds: int) -> None:
    """Print one line for each kind of saga: how many a second, how long each, plain commits a second, the ratio."""
    django.setup()
    from django.db import connection
    from django.test.utils import get_runner, setup_test_environment

    from tests.settings import SCRATCH

    SCRATCH.mkdir(parents=True, exist_ok=True)
    setup_test_environment()
    runner = get_runner(django.conf.settings)(verbosity=0, interactive=False)
    databases = runner.setup_databases()
    try:
        print(f"{connection.vendor + ':':<40}{'a second':>10}{'ms each':>10}{'commits/s':>12}{'floor-commits':>15}")
        for title, make in kinds().items():
            took, floor = zip(*[one_round(make) for _ in range(rounds)], strict=True)
            ratio = median(one / commit for one, commit in zip(took, floor, strict=True))
            each, commit = median(took), median(floor)
            print(f"  {title:<38}{1 / each:10.0f}{each * 1000:10.2f}{1 / commit:12.0f}{ratio:15.1f}", flush=True)
        print()
    finally:
        runner.teardown_databases(databases)
        shutil.rmtree(SCRATCH, ignore_errors=True)


def kinds() -> dict[str, Callable[[], Any]]:
    """The sagas that are compared: what they are, and how to make one."""
    from saga_app import Saga, step

    def made(name: str, *, fails: bool = False, **options: Any) -> Any:
        def body() -> str:
            if fails:
                raise ValueError(name)
            return name

        one = step(name=name, attempts=1, **options)(body)
        one.compensate(lambda: None)
        return one

    return {
        "3 external steps": lambda: Saga("external", *[made(name) for name in "abc"]),
        "3 atomic steps": lambda: Saga("atomic", *[made(name, atomic=True) for name in "abc"]),
        "the third fails, 2 compensations": lambda: Saga(
            "unwind", made("a"), made("b"), made("c", fails=True).named(compensate=False)
        ),
    }


def one_round(make: Callable[[], Any]) -> tuple[float, float]:
    """Seconds an execution, and seconds a plain commit: the mean of before and after."""
    from saga_app import executor
    from saga_app.core import registry

    with registry.isolate():
        saga = make()
        for _ in range(EACH):
            saga.start()
        before = floor()
        began = time.perf_counter()
        done = executor.drive_next(holder="bench:1", budget=600)
        took = (time.perf_counter() - began) / done
        return took, (before + floor()) / 2


def floor() -> float:
    """Seconds that one INSERT of one row takes with its commit."""
    from tests.site.models import Order

    began = time.perf_counter()
    for _ in range(EACH):
        Order.objects.create()
    return (time.perf_counter() - began) / EACH


if __name__ == "__main__":
    main(int(sys.argv[1]))
