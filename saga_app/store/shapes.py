"""Reads of what there is of a saga: the code of this process, the shapes that once ran, what is open of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count

from saga_app.core import registry
from saga_app.core.errors import DefinitionError
from saga_app.core.graph import graph_of
from saga_app.core.inputs import TypedInput
from saga_app.core.saga import Saga
from saga_app.models import Execution, SagaVersion
from saga_app.store.transactions import alias


@dataclass(frozen=True, slots=True)
class Shape:
    """One shape of a revision.

    Attributes:
        is_code: the code that this process has.
        seen_at: when an execution of it was started first.
        open: how many executions of it have not ended.
    """

    revision: int
    fingerprint: str
    is_code: bool
    seen_at: datetime | None
    open: int


@dataclass(frozen=True, slots=True)
class InputLine:
    """One field of an input."""

    name: str
    type: str
    required: bool


def revisions() -> dict[tuple[str, int], int]:
    """Each name and revision that is in the code, ran once, or is open; and how many executions of it are open."""
    code = {(saga.name, saga.revision) for saga in registry.all()}
    ran = set(SagaVersion.objects.using(alias()).order_by().values_list("saga", "revision").distinct())
    open_rows = Execution.objects.using(alias()).open().order_by().values_list("saga", "revision")
    counts = {(name, revision): count for name, revision, count in open_rows.annotate(Count("pk"))}
    return {key: counts.get(key, 0) for key in code | ran | counts.keys()}


def latest(name: str) -> Saga[Any] | None:
    """The highest revision of the code."""
    return max((saga for saga in registry.all() if saga.name == name), key=lambda saga: saga.revision, default=None)


def shapes(name: str) -> list[Shape]:
    """Every shape of a saga that is in the code, ran once, or is still open; the highest revision first."""
    code = {(saga.revision, saga.fingerprint) for saga in registry.all() if saga.name == name}
    rows = SagaVersion.objects.using(alias()).filter(saga=name).order_by("id")
    seen = {(revision, shape): at for revision, shape, at in rows.values_list("revision", "fingerprint", "seen_at")}
    executions = Execution.objects.using(alias()).open().filter(saga=name).order_by()
    counted = executions.values_list("revision", "fingerprint").annotate(Count("pk"))
    counts = {(revision, shape): count for revision, shape, count in counted}
    return [
        Shape(revision, shape, (revision, shape) in code, seen.get((revision, shape)), counts.get((revision, shape), 0))
        for revision, shape in sorted(code | seen.keys() | counts.keys(), reverse=True)
    ]


def graph(name: str, revision: int, saga: Saga[Any] | None) -> Any:
    """The graph to draw: of the code, else of what ran last; None where nothing is known."""
    if saga is not None:
        return graph_of(saga)
    kept = SagaVersion.objects.using(alias()).filter(saga=name, revision=revision).order_by("-id").first()
    return kept.graph if kept else None


def fault(saga: Saga[Any]) -> str:
    """Why no execution of it can run; empty where one can."""
    try:
        saga.seal()
    except DefinitionError as error:
        return str(error)
    return ""


def input_lines(saga: Saga[Any]) -> Iterator[InputLine]:
    """The input, field by field."""
    wanted = saga.accepts
    for name, required in wanted.names.items():
        types = wanted.hints.get(name, ()) if isinstance(wanted, TypedInput) else ()
        yield InputLine(name, " / ".join(dict.fromkeys(map(_shown, types))), required)


def _shown(declared: Any) -> str:
    return declared.__name__ if isinstance(declared, type) else str(declared).replace("typing.", "")
