"""What is checked of the sagas themselves: that they can run, and what is seldom meant."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's name

from saga_app.core import registry
from saga_app.core.advice import endless_debts
from saga_app.core.errors import DefinitionError
from saga_app.core.saga import Saga
from saga_app.core.steps import Step
from saga_app.store.transactions import alias

Messages = Iterator[CheckMessage]


def found() -> Messages:
    """What is wrong with the sagas of this project, or seldom meant."""
    for said in registry.conflicts():
        hint = "Start the one you mean under a name or a revision of its own."
        yield Error(said, hint=hint, id="saga_app.E009")
    told: set[int] = set()
    for saga in registry.all():
        yield from _sealing(saga)
        yield from _loops(saga)
        for step in saga.steps:
            if id(step.bodies) not in told:
                told.add(id(step.bodies))
                yield from _step(step, f"saga {saga.name!r}, step `{step.name}`")


def _sealing(saga: Saga[Any]) -> Messages:
    if registry.conflict(saga.name, saga.revision):
        return
    said = ""
    try:
        saga.seal()
    except DefinitionError as error:
        said = str(error)
    except Exception as error:  # noqa: BLE001 - annotations are resolved here, and may be anything
        said = f"saga {saga.name!r}: {type(error).__name__}: {error}"
    if said:
        hint = f"Correct it in {saga.module}; until then start() raises the same error."
        yield Error(said, hint=hint, id="saga_app.E010")


def _loops(saga: Saga[Any]) -> Messages:
    for loop in endless_debts(saga):
        said = f"saga {saga.name!r}, {loop.shown} owes a compensation more with each turn, and rests in between."
        hint = (
            f'Write Milestone("{loop.name}_done") at the end of its body, if a turn that is over is not undone when a '
            "later one fails; or silence this check, if it is."
        )
        yield Warning(said, hint=hint, id="saga_app.W008")


def _step(step: Step[..., Any], where: str) -> Messages:
    if step.atomic and step.using is not None and step.using != alias():
        said = f"{where} is atomic on {step.using!r}, and its record is on {alias()!r}: they cannot commit together."
        hint = f"Take using= out (it is {alias()!r} then), or make it an external step: atomic=False."
        yield Error(said, hint=hint, id="saga_app.E008")
    if not step.atomic and step.policy.attempts > 1 and not step.idempotent and not _asks_for_context(step):
        said = f"{where} is tried up to {step.policy.attempts} times, and no attempt can tell that it is not the first."
        hint = (
            "Take a parameter `ctx: Context` and pass ctx.idempotency_key on; or write idempotent=True, if doing it "
            "twice is the same as once; or atomic=True, if it writes to this database alone; or attempts=1."
        )
        yield Warning(said, hint=hint, id="saga_app.W005")


def _asks_for_context(step: Step[..., Any]) -> bool:
    """Itself, or a callable bound to one of its parameters."""
    bound = (value for value in step.bindings.values() if callable(value))
    return any(one.name == "ctx" for one in step.parameters) or any(
        "ctx" in inspect.signature(value).parameters for value in bound
    )
