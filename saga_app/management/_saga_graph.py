"""`manage.py saga graph`: a saga as text that draws it; one whose code is gone, as it was when it was started."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from saga_app.core import registry
from saga_app.core.drawn import dot, mermaid
from saga_app.core.graph import graph_of
from saga_app.core.names import nearest
from saga_app.management._saga_read import printable, say, say_json
from saga_app.models import SagaVersion
from saga_app.store import transactions

FORMATS = {"mermaid": mermaid, "dot": dot}


def graph(command: BaseCommand, options: dict[str, Any]) -> None:
    """Print the graph."""
    found = _graph(options["saga"], options["revision"])
    if options["json"]:
        say_json(command, found)
    else:
        say(command, *FORMATS[options["format"]](found).splitlines())


def _graph(name: str, revision: int | None) -> dict[str, Any]:
    """The code's own where it has that revision, else the one that was kept last."""
    ours = {saga.revision: saga for saga in registry.all() if saga.name == name}
    kept = SagaVersion.objects.using(transactions.alias())
    revisions = {*ours, *kept.filter(saga=name).values_list("revision", flat=True)}
    if not revisions:
        names = {*(saga.name for saga in registry.all()), *kept.values_list("saga", flat=True).distinct().order_by()}
        raise CommandError(printable(f"No saga is called {name!r}. {nearest(name, names)}"))
    wanted = max(ours or revisions) if revision is None else revision
    if wanted not in revisions:
        known = ", ".join(map(str, sorted(revisions)))
        raise CommandError(printable(f"Saga {name!r} has no revision {wanted}. There is {known}."))
    if wanted in ours:
        return graph_of(ours[wanted])
    last: dict[str, Any] = kept.filter(saga=name, revision=wanted).latest("id").graph
    return last
