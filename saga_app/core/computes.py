"""Compute, and every callable a saga chooses with: recorded calls with retries, which do nothing in the world."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar, cast

from saga_app.core.backoff import Backoff
from saga_app.core.errors import BadChoice, DefinitionError
from saga_app.core.handlers import Bodies
from saga_app.core.names import check_provided, check_step_name
from saga_app.core.options import body_of
from saga_app.core.policy import Errors, Policy, make_policy
from saga_app.core.seconds import Seconds
from saga_app.core.signatures import parameters_of
from saga_app.core.steps import Step

P = ParamSpec("P")
R = TypeVar("R")

#: What Python calls a lambda.
UNNAMED = "<lambda>"


def Compute(  # noqa: N802 - read as a node, as in Compute("total", total_of)
    name: str,
    function: Callable[P, R],
    /,
    *,
    provides: str | None = None,
    attempts: int = 3,
    backoff: Backoff = Backoff(),  # noqa: B008 - frozen
    retry_on: Errors = (Exception,),
    give_up_on: Errors = (),
    timeout: Seconds | None = 30,
    title: str = "",
) -> Step[P, R]:
    """A function that is called once, and whose answer is recorded: it does nothing that would have to be undone."""
    if not isinstance(name, str):
        raise DefinitionError(f'Compute({name!r}, …): the name comes first, as in Compute("total", total_of)')
    name = check_step_name(name, "the name of Compute(…)")
    where = f"Compute `{name}`"
    policy = make_policy(
        where,
        attempts=attempts,
        backoff=backoff,
        retry_on=retry_on,
        give_up_on=give_up_on,
        rejected_on=(),
        timeout=timeout,
    )
    made = _plain(function, where, name)
    provided = check_provided(name if provides is None else provides, where)
    return cast("Step[P, R]", replace(made, provides=provided, policy=policy, title=title))


CONDITION = "a function that returns True or False, as in lambda total: total > 100"


def chooser(written: object, where: str, example: str = CONDITION) -> Step[..., Any]:
    """What a node chooses with: a function, or a Compute(…) where it needs another policy. A lambda has no name yet."""
    if isinstance(written, Step):
        if written.pure:
            return replace(written, provides="")
        word = written.provides.replace("-", "_")
        raise DefinitionError(
            f"{where}: `{written.name}` is a step, which may do something that has to be undone: put it before, "
            f"and choose by what it provides, as in lambda {word}: {word}"
        )
    if not callable(written):
        raise DefinitionError(f"{where}: {written!r} cannot be called: write {example}")
    name = getattr(written, "__name__", UNNAMED)
    return _plain(written, where, "" if name == UNNAMED else check_step_name(name))


def truth(where: str, value: object) -> str:
    """The judge of a condition: a bool, and nothing that merely counts as one."""
    if isinstance(value, bool):
        return "true" if value else "false"
    raise BadChoice(f"{where}: its condition returned {value!r:.80}: return True or False, as in bool(…)")


def _plain(function: Any, where: str, name: str) -> Step[..., Any]:
    if isinstance(function, Step):
        raise DefinitionError(f"{where}: `{function.name}` is a step already: write it as it is, without Compute(…)")
    body = body_of(function, where, atomic=False)
    parameters = parameters_of(body, where)
    return Step(kind="compute", bodies=Bodies(body), name=name, provides="", policy=Policy(), parameters=parameters)
