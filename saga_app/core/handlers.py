"""Handlers: what undoes a step (its compensation) and what finds out whether it happened (its reconcile)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from saga_app.core.backoff import Backoff
from saga_app.core.errors import DefinitionError
from saga_app.core.options import body_of, option_names
from saga_app.core.policy import Errors, Policy, make_policy
from saga_app.core.seconds import Seconds
from saga_app.core.signatures import Parameter, is_async, parameters_of

#: A compensation is never unbounded, even where its step is.
DEFAULT_TIMEOUT = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    """One handler of a step. `needs_result`: it declares `result` without a default."""

    function: Callable[..., Any]
    policy: Policy
    atomic: bool
    needs_result: bool
    is_async: bool
    parameters: tuple[Parameter, ...]


@dataclass(slots=True)
class Bodies:
    """The functions of a step, shared by all its copies: a handler may be declared after a copy was made.

    `sealed_by` names the saga that worked out its calls: after that a further handler would not be seen.
    """

    function: Callable[..., Any]
    compensation: Handler | None = None
    reconciler: Handler | None = None
    sealed_by: str = ""


def make_compensation(
    function: object,
    where: str,
    step: Policy,
    *,
    attempts: int = 3,
    backoff: Backoff = Backoff(),  # noqa: B008 - frozen
    timeout: Seconds | None = None,
    atomic: bool = False,
    retry_on: Errors = (Exception,),
    give_up_on: Errors = (),
) -> Handler:
    """The handler that undoes a step. Its attempts and waits are its own; its timeout is the step's, or 30 seconds."""
    policy = make_policy(
        where,
        attempts=attempts,
        backoff=backoff,
        retry_on=retry_on,
        give_up_on=give_up_on,
        rejected_on=(),
        timeout=timeout if timeout is not None else step.timeout or DEFAULT_TIMEOUT,
    )
    return _make(function, where, policy, atomic=atomic)


def make_reconcile(function: object, where: str, step: Policy) -> Handler:
    """The handler that is asked whether a call whose outcome is unknown had its effect."""
    handler = _make(function, where, Policy(timeout=step.timeout or DEFAULT_TIMEOUT), atomic=False)
    if handler.needs_result:
        raise DefinitionError(
            f"{where} asks for `result`, and it is called because nobody knows one: "
            f"take it out, and look the call up by ctx.idempotency_key"
        )
    return handler


#: What may be written in `.compensate(...)`.
COMPENSATE_OPTIONS = option_names(make_compensation)


def _make(function: object, where: str, policy: Policy, *, atomic: bool) -> Handler:
    if hasattr(function, "bodies"):
        raise DefinitionError(f"{where} is itself a step: take its @step away, a handler is a plain function")
    body = body_of(function, where, atomic=atomic)
    parameters = parameters_of(body, where)
    return Handler(
        function=body,
        policy=policy,
        atomic=atomic,
        needs_result=any(one.name == "result" and one.required for one in parameters),
        is_async=is_async(body),
        parameters=parameters,
    )
