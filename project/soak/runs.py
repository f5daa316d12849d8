"""What the audit asks of executions: one for each thing, ended, each outcome once, each child with its parent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator

from project.soak.accounts import Thing, key_of
from project.soak.books import Books, Run, Step

TERMINAL = {"completed", "failed", "cancelled"}
ROLLED_BACK = {"completed", "not_applicable", "rested"}
OUTCOMES = {"compensated", "failed", "abandoned", "resolved"}


def keys(books: Books) -> Iterator[str]:
    """No effect happened twice under one key."""
    yield from _twice("charge under key", (charge.key for charge in books.charges))
    yield from _twice("charge numbered", (charge.id for charge in books.charges))
    yield from _twice("parcel", (parcel.code for parcel in books.parcels))
    ours = (f"{m.kind} of product {m.product} for order {m.order}" for m in books.movements if m.order is not None)
    yield from _twice("stock movement", ours)


def executions(books: Books) -> Iterator[str]:
    """Everything has exactly one execution; each is terminal, with a rollback that is decided."""
    runs = Counter(run.key for run in books.runs if not run.parent)
    things: list[Thing] = [*books.orders, *books.returns, *books.subscriptions]
    for one in things:
        if runs.pop(key_of(one), 0) != 1:
            yield f"{key_of(one)} does not have exactly one execution"
    yield from (f"execution {key} belongs to nothing" for key in runs)
    for run in books.runs:
        if run.status not in TERMINAL:
            yield f"execution {_name(run)} is {run.status}"
        elif run.status != "completed" and run.rollback not in ROLLED_BACK:
            yield f"execution {_name(run)} is {run.status} and its rollback {run.rollback or 'undecided'}"


def children(books: Books) -> Iterator[str]:
    """Each child has its parent; where that went back no child stands completed, where it completed each does."""
    runs = {run.id: run for run in books.runs}
    for child in (run for run in books.runs if run.parent):
        parent = runs.get(child.parent)
        if parent is None:
            yield f"execution {_name(child)} is a child of {child.parent}, which is no execution"
        elif (parent.status == "completed") != (child.status == "completed"):
            yield f"execution {_name(child)} is {child.status}, and its parent {parent.key} {parent.status}"


def compensations(books: Books) -> Iterator[str]:
    """What was owed has exactly one outcome, what was not owed has none, and nothing is left running."""
    for run in books.runs:
        stops = [place for place, step in enumerate(run.steps) if step.kind == "milestone"]
        for place, step in enumerate(run.steps):
            owed = run.unwound and step.owed and place >= max(stops, default=0)  # what is before a milestone stays
            yield from (f"execution {_name(run)}, step {step.path}: {text}" for text in _problems(run, step, owed))


def _problems(run: Run, step: Step, owed: bool) -> Iterator[str]:  # noqa: FBT001 - a fact, not an option
    if step.is_running and run.status in TERMINAL:
        yield "still running"
    if owed and step.compensation not in OUTCOMES:
        yield f"owed a compensation and has {step.compensation or 'no outcome'}"
    if not owed and step.compensation:
        yield f"owed nothing and is {step.compensation}"
    called = step.kind != "child"  # a child undoes itself
    if called and step.times_compensated != (step.compensation == "compensated"):
        yield f"compensated {step.times_compensated} times, and is {step.compensation or 'without an outcome'}"


def _name(run: Run) -> str:
    return run.key or run.id


def _twice(what: str, keys: Iterable[Hashable]) -> Iterator[str]:
    return (f"{what} {key}: {times} times" for key, times in Counter(keys).items() if times > 1)


CHECKS = (keys, executions, children, compensations)
