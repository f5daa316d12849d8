"""Drives executions in this process: through deaths that lose all memory, and on a database that refuses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import OperationalError, connections

from saga_app import executor
from saga_app.models import Execution
from saga_app.queue import inline
from saga_app.store.transactions import alias
from tests.faults import lapse
from tests.mortal import Died, Life, life
from tests.reading import now
from tests.script import Entry

DATABASES = ["default", "outside"]


def drive(x: Execution) -> Execution:
    """Drive it until it parks or ends; the execution as it is then."""
    return inline.drive(x)


def dies(when: str = "inside") -> Entry:
    """An entry of a plan: this process is gone "inside" the body, or "after" it has returned 1 and is not recorded."""
    return Entry(_die, (when,))


def _die(_call: Any, when: str) -> int:
    assert life().points, "drive this with killed()"
    life().dead = True
    if when == "inside":
        raise Died(when)
    return 1


def killed(x: Execution, *, lapses: bool = True) -> Execution:
    """Drive it until this process dies; then its lease runs out."""
    one = Life()
    one.points.append("a body")
    with one.lived():
        executor.drive(x.pk, holder="host:1")
    assert one.dead, "it was to die here"
    if lapses:
        lapse()
    return now(x)


@contextmanager
def refusing(refuses: Callable[[str], object], error: str = "the disk is full") -> Iterator[list[str]]:
    """The database refuses the statements for which that is true, in this thread; yields those that it refused."""
    refused: list[str] = []

    def execute(run: Any, sql: str, params: Any, many: Any, context: Any) -> Any:
        if refuses(sql):
            refused.append(sql)
            raise OperationalError(error)
        return run(sql, params, many, context)

    with connections[alias()].execute_wrapper(execute):
        yield refused


def writes_to(table: str) -> Callable[[str], bool]:
    """Whether a statement writes to that table of ours: "execution", "steprecord", "event"."""
    name = re.compile(rf"\bsaga_app_{table}\b")
    return lambda sql: sql.lstrip().startswith(("UPDATE", "INSERT", "WITH")) and bool(name.search(sql))
