"""Every address of the console, found by asking each admin of ours for its own; nothing here is a list of pages.

Where an address has arguments, EXAMPLES says what to fill in: for the pages of one row by the model, for any other by
the name of the address.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib import admin
from django.db.models import Model
from django.urls import URLPattern, reverse
from django.utils.http import urlencode

from saga_app.admin.batches import ACTS
from saga_app.admin.gates import GATE_VERBS
from saga_app.core.verbs import VERBS
from saga_app.models import Execution, OperatorBatch, Overview, SagaVersion, StuckExecution, WaitingApproval, Worker
from tests.doors.confirm_page import USES
from tests.doors.world import World

Arguments = dict[str, Any]  # of the address; those whose name begins with "?" make its query
Example = Callable[[World], Iterable[Arguments]]

NOBODY = ("add", "delete")  # pages of Django's own that nobody sees
FOR_VERBS = (
    "saga_app_execution_verb",
    "saga_app_saga_start",
    "saga_app_saga_schedule",
    "saga_app_saga_schedule_act",
)
"""Addresses that need more than the permission to view, by name."""


def pks(rows: Iterable[Model]) -> list[Arguments]:
    return [{"object_id": row.pk} for row in rows]


def executions(world: World) -> list[Execution]:
    return [*world.states.values(), world.gated, world.listening, world.parent]


def verbs(world: World) -> Iterator[Arguments]:
    """Each verb where it may be used, and where it may not."""
    for verb in VERBS:
        for state in sorted({USES[verb][0], "completed"} & {*world.states}):
            yield {"object_id": world.states[state].pk, "verb": verb}
    for verb, state in (("fork", "completed"), ("fork", "waiting"), ("move", "stuck held")):
        if state in world.states:
            yield {"object_id": world.states[state].pk, "verb": verb}
    for verb in GATE_VERBS:
        one, gate = (world.listening, "go") if verb == "signal" else (world.gated, "boss")
        yield {"object_id": one.pk, "verb": verb, "?gate": gate}


def moments(world: World) -> Iterator[Arguments]:
    """Some of them as they were."""
    for execution in executions(world)[-4:]:
        yield from ({"object_id": execution.pk, "?moment": number} for number in (1, 4))


def acts(world: World) -> Iterator[Arguments]:
    """What may be done to a batch, each to one of every status."""
    for act in ACTS:
        yield from ({**arguments, "act": act} for arguments in pks(world.batches.values()))


EXAMPLES: dict[str | type[Model], Example] = {
    Execution: lambda world: [*pks(executions(world)), *moments(world)],
    Overview: lambda world: pks(executions(world)[:1]),
    StuckExecution: lambda world: pks(one for state, one in world.states.items() if "stuck" in state),
    WaitingApproval: lambda world: pks(WaitingApproval.objects.filter(execution=world.gated, name="boss")),
    OperatorBatch: lambda world: pks(world.batches.values()),
    SagaVersion: lambda world: pks(SagaVersion.objects.all()),
    Worker: lambda world: pks(Worker.objects.all()),
    "saga_app_execution_verb": verbs,
    "saga_app_execution_json": lambda world: pks(executions(world)),
    "saga_app_operatorbatch_act": acts,
    "saga_app_saga": lambda world: [{"name": name} for name in world.sagas],
    "saga_app_saga_start": lambda world: [{"name": name} for name in world.sagas],
    "saga_app_saga_schedule": lambda world: [{"name": world.sagas[0]}],
    "saga_app_saga_schedule_act": lambda world: [
        {"name": world.scheduled.saga, "pk": world.scheduled.row.pk, "act": act} for act in ("pause", "delete")
    ],
    "saga_app_cause": lambda world: [{"cause": one.cause} for one in world.states.values() if one.cause],
}


@dataclass(frozen=True, repr=False)
class Address:
    """One page.

    Attributes:
        name: of the pattern; empty for the short form of Django's own.
        url: filled in.
        model: whose admin it belongs to.
    """

    name: str
    url: str
    model: type[Model]

    def __repr__(self) -> str:
        return f"{self.name} {self.url}"

    @property
    def is_list(self) -> bool:
        """A list of Django's, which answers to POST as to GET, and to an action."""
        return self.kind == "changelist"

    @property
    def kind(self) -> str:
        """What Django calls the page: changelist, change, history, add, delete; else ours."""
        return self.name.removeprefix(f"saga_app_{self.model._meta.model_name}_")


def ours() -> dict[type[Model], admin.ModelAdmin[Any]]:
    """The admins of our models on the site, by model."""
    return {model: made for model, made in admin.site._registry.items() if model._meta.app_label == "saga_app"}


def addresses(world: World) -> Iterator[Address]:
    for model, model_admin in ours().items():
        for pattern in model_admin.urls:
            yield from filled_in(world, model, pattern)


def filled_in(world: World, model: type[Model], pattern: URLPattern) -> Iterator[Address]:
    name, wanted = pattern.name or "", set(pattern.pattern.regex.groupindex)
    for arguments in examples(world, model, name) if wanted else [{}]:
        query = {key[1:]: value for key, value in arguments.items() if key.startswith("?")}
        filled = {key: value for key, value in arguments.items() if not key.startswith("?")}
        if wanted != set(filled):
            pytest.fail(f"{name or pattern.pattern} takes {wanted}; its example in tests/doors/addresses.py: {filled}")
        yield Address(name, at(model, name, filled) + (f"?{urlencode(query)}" if query else ""), model)


def examples(world: World, model: type[Model], name: str) -> list[Arguments]:
    short = f"saga_app_{model._meta.model_name}"
    found = EXAMPLES.get(name) or (
        EXAMPLES.get(model) if name in {"", *(f"{short}_{kind}" for kind in ("change", "history", "delete"))} else None
    )
    if found is None:
        pytest.fail(
            f"Nobody says how to fill in the address {name!r} of {model.__name__}: "
            "add a line for it to EXAMPLES in tests/doors/addresses.py."
        )
    made = list(found(world))
    if not made:
        pytest.fail(f"The example of {name!r} ({model.__name__}) has no row: add one to tests/doors/world.py.")
    return made


def at(model: type[Model], name: str, arguments: Arguments) -> str:
    if name:
        return reverse(f"admin:{name}", kwargs=arguments)
    # Django's own form without a name: a list's address and a key, which leads on to the change page.
    return reverse(f"admin:saga_app_{model._meta.model_name}_changelist") + f"{arguments['object_id']}/"
