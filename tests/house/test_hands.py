"""One writer, one clock, one reader of settings, one kind of lock: who may touch what, read from the syntax trees."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.house import source

DRIVE = {"store", "executor", "atomics", "bodies"}  # the rooms whose transactions stand alone

OUR_MODELS = re.compile(r"\b(Execution|StepRecord|Event|Worker|Signal|SagaVersion)\b")
WRITES = {"save", "create", "bulk_create", "bulk_update", "get_or_create", "update_or_create", "delete"}
WRITES |= {f"a{word}" for word in WRITES}
UPDATES = {"update", "aupdate"}
A_QUERYSET = re.compile(
    r"\.(objects|filter|exclude|all|order_by|due|select_for_update)\b|_base_manager|_default_manager"
)
SQL_WRITES = re.compile(r"\b(INSERT\s+INTO|UPDATE\s+\"?saga_app|DELETE\s+FROM)\b", re.IGNORECASE)

CLOCKS = {
    "datetime": {"datetime.now", "datetime.utcnow", "datetime.today", "date.today"},
    "django.db.models.functions": {"Now"},
    "django.utils.timezone": {"now", "localdate"},
    "time": {"time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "sleep"},
    "uuid": {"uuid1", "uuid4", "uuid6", "uuid7"},
}
CLOCK_NAMES = {f"{module}.{name}" for module, names in CLOCKS.items() for name in names}
DICE = ("random.", "secrets.")

# Who else may, and why. A key is "file" or "file:function".
MAY_WRITE: dict[str, str] = {
    "saga_app/queue/schedules.py": "the rows are django-q2's own schedules",
}
MAY_READ_SETTINGS = {
    "saga_app/conf.py": "it is the reader",
    "saga_app/checks/__init__.py": "the host's settings are what it checks",
}
MAY_JOIN_A_TRANSACTION = {
    "saga_app/store/births.py:insert": "an execution that is started inside a caller's transaction commits with it",
}


def none(found: Iterable[tuple[object, ...]]) -> None:
    """Fail with one line for each place."""
    lines = [" ".join(map(str, place)) for place in found]
    assert not lines, "\n" + "\n".join(lines)


def test_only_the_store_writes_our_models() -> None:
    """Executions, step records, events and workers are written by saga_app.store and nobody else."""
    none(
        place
        for path in source.modules()
        if source.room(path) != "store"
        for place in unless(MAY_WRITE, path, writes(path))
    )


def test_the_host_site_does_not_write_our_models() -> None:
    """The demo shows how to use the app: through the verbs."""
    project = source.ROOT / "project"
    none(
        (source.name(path), *place) for path in source.modules(under=project) for place in writes(path, ours_named=True)
    )


def writes(path: Path, *, ours_named: bool = False) -> Iterator[tuple[str, int, str]]:
    """Calls that write rows; ours_named: only those that name one of our models."""
    for where, node in source.functions(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL_WRITES.search(node.value):
            if not ours_named:
                yield where, node.lineno, node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            receiver = ast.unparse(node.func.value)
            ours = bool(OUR_MODELS.search(receiver))
            if node.func.attr in UPDATES:
                found = ours or (not ours_named and bool(A_QUERYSET.search(receiver)))
            else:
                found = node.func.attr in WRITES and (ours or not ours_named)
            if found:
                yield where, node.lineno, ast.unparse(node.func)


def test_only_the_clock_reads_time_and_throws_dice() -> None:
    """So that a test clock holds all of them in its hand."""
    none(
        (source.name(path), line, name)
        for path in source.modules()
        if source.room(path) != "clock"
        for line, name in uses(path)
        if name in CLOCK_NAMES or name.startswith(DICE)
    )


def uses(path: Path) -> Iterator[tuple[int, str]]:
    """Every dotted name in a file, with what its first part was imported as put in its place."""
    known: dict[str, str] = {}
    tree = source.tree(path)
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                known |= {alias.asname: alias.name for alias in names if alias.asname}
                known |= {first: first for first in (alias.name.split(".")[0] for alias in names if not alias.asname)}
            case ast.ImportFrom(module=str(module), names=names, level=0):
                known |= {alias.asname or alias.name: f"{module}.{alias.name}" for alias in names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name):
            first, _, rest = ast.unparse(node).partition(".")
            if first in known:
                yield node.lineno, ".".join(filter(None, [known[first], rest]))


def test_only_conf_reads_django_settings() -> None:
    """settings.AUTH_USER_MODEL in models is Django's way to name a table, not a setting of ours."""
    for path in source.modules():
        if source.name(path) not in MAY_READ_SETTINGS:
            found = [name for _, name in uses(path) if name.startswith("django.conf.settings")]
            table_names = [name for name in found if name == "django.conf.settings.AUTH_USER_MODEL"]
            # Each use of the attribute shows up twice: as itself and as the name it begins with.
            assert len(found) == 2 * len(table_names), source.name(path)


def test_every_row_lock_leaves_foreign_keys_alone() -> None:
    """no_key=True: a lock on an execution must not hold up a user's row that points to it."""
    locks = list(calls("select_for_update"))
    assert locks, "no row lock found at all: is this test looking in the right place?"
    none(tuple(place) for *place, call in locks if not says(call, "no_key"))


def test_transactions_of_store_and_executor_are_durable() -> None:
    """A commit of theirs is a commit: nothing they write may hang on a caller's transaction."""
    blocks = [
        (file, where, line, call)
        for file, where, line, call in calls("transaction.atomic")
        if source.room(source.ROOT / file) in DRIVE
    ]
    none(
        (file, where, line)
        for file, where, line, call in blocks
        if not says(call, "durable") and f"{file}:{where}" not in MAY_JOIN_A_TRANSACTION
    )


def calls(word: str) -> Iterator[tuple[str, str, int, ast.Call | None]]:
    """Every use of a name that is or ends so, as in `rows.select_for_update`, with the call it is part of, if any."""
    for path in source.modules():
        called = {id(node.func): node for _, node in source.functions(path) if isinstance(node, ast.Call)}
        for where, node in source.functions(path):
            dotted = ast.unparse(node) if isinstance(node, ast.Attribute | ast.Name) else ""
            named = dotted == word or dotted.endswith(f".{word}")
            if named:
                yield source.name(path), where, node.lineno, called.get(id(node))


def says(call: ast.Call | None, option: str) -> bool:
    return call is not None and any(
        word.arg == option and isinstance(word.value, ast.Constant) and word.value.value is True
        for word in call.keywords
    )


def unless(
    allowed: dict[str, str], path: Path, found: Iterator[tuple[str, int, str]]
) -> Iterator[tuple[str, str, int, str]]:
    file = source.name(path)
    for where, line, text in found:
        if file not in allowed and f"{file}:{where}" not in allowed:
            yield file, where, line, text


def test_no_permission_is_left_over() -> None:
    """An exception for a function that is gone is an open door."""
    places = {source.name(path) for path in source.modules()}
    places |= {f"{source.name(path)}:{where}" for path in source.modules() for where, _ in source.functions(path)}
    allowed = {*MAY_WRITE, *MAY_JOIN_A_TRANSACTION, *MAY_READ_SETTINGS}
    assert allowed - places == set()
