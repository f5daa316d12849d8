"""The verbs: each checks the request, asks the engine, and shows what is true now. A refusal is a 409 with its code."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from rest_framework import status
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from saga_app import acting, engine
from saga_app.answering import asked as wanted_at
from saga_app.api import problems, requests, serializers
from saga_app.api.base import SagaViewSet, actor_of, address_of, checked, id_in
from saga_app.core import addressing, registry
from saga_app.core.approvals import Approval
from saga_app.core.converting import converted
from saga_app.core.errors import (
    DefinitionError,
    InputError,
    KeyConflict,
    SagaError,
    Undecodable,
    UnknownSaga,
    UnsupportedValue,
)
from saga_app.core.saga import Saga
from saga_app.core.signatures import returned_by
from saga_app.core.verbs import Refused
from saga_app.models import Execution

logger = logging.getLogger("saga_app")

BROKEN = (ArithmeticError, AttributeError, TypeError, ValueError)  # what code of the project makes of strange JSON
NOT_AGAIN: dict[type[SagaError], str] = {
    InputError: "invalid_input",
    UnknownSaga: "unknown_saga",
    DefinitionError: "invalid_definition",
    Undecodable: "undecodable",
    KeyConflict: "key_conflict",
}


class VerbViewSet(SagaViewSet):
    """Everything that may be done to an execution that is there."""

    serializer_class = serializers.Summary

    def resume(self, request: Request, pk: str) -> Response:
        """Try again what stopped. `version` as seen, `reason`. 409 with the refusal's code; 404."""
        return self._act(engine.resume, requests.PlanRequest, request, pk)

    def abandon(self, request: Request, pk: str) -> Response:
        """Give up what is stuck. `version` as seen, `reason` (else 400). 409 with the refusal's code; 404."""
        return self._act(engine.abandon, requests.PlanRequest, request, pk)

    def unwind(self, request: Request, pk: str) -> Response:
        """Begin the unwind of what is stuck. `version` as seen, `reason`. 409 with the refusal's code; 404."""
        return self._act(engine.unwind, requests.PlanRequest, request, pk)

    def cancel(self, request: Request, pk: str) -> Response:
        """Ask it to stop and undo what it did. `reason`; `version` if it matters. 409 with the refusal's code; 404."""
        return self._act(engine.cancel, requests.VerbRequest, request, pk)

    def suspend(self, request: Request, pk: str) -> Response:
        """Ask it to pause. `reason`; `version` if it matters. 409 with the refusal's code; 404."""
        return self._act(engine.suspend, requests.VerbRequest, request, pk)

    def resolve(self, request: Request, pk: str) -> Response:
        """Say that the compensation at `path` was done by hand. `version` as seen, `reason` (else 400)."""
        return self._act(engine.resolve, requests.ResolveRequest, request, pk)

    def move(self, request: Request, pk: str) -> Response:
        """Go on in another `revision`. `version` as seen, `reason` (else 400). 409 with the refusal's code; 404."""
        return self._act(engine.move, requests.MoveRequest, request, pk)

    def skip(self, request: Request, pk: str) -> Response:
        """Say what became of the step at `path`: `happened`, and then its `output`; `version` as seen, `reason`.

        The output is taken as JSON of the type that the step declares. 400 `output_invalid`; 409; 404.
        """
        asked = checked(requests.SkipRequest, request)
        if asked["output"] is not None:
            asked["output"] = _output(self.execution(pk), asked["path"], asked["output"])
        return self._shown(engine.skip(id_in(pk), actor=actor_of(request), **asked))

    def signal(self, request: Request, pk: str) -> Response:
        """Send a signal: `name`, or a gate's path; `payload`, any JSON value; `key`, sent again it is stored once.

        409 with the refusal's code, as for a name that no gate waits for; 404.
        """
        asked = checked(requests.SignalRequest, request)
        try:
            execution = engine.signal(id_in(pk), actor=actor_of(request), **asked)
        except UnsupportedValue as error:
            raise ValidationError({"payload": error.reason}, code="unsupported_value") from error
        except InputError as error:
            raise ValidationError(dict(error.errors), code="invalid") from error
        return self._shown(execution)

    def approve(self, request: Request, pk: str) -> Response:
        """Approve at the `gate`, with the `values` that it asks for; `key`, made again it is stored once; `reason`.

        Who may view executions may ask; the approval itself says who may decide: 403 `not_permitted`, `four_eyes`.
        400 `input_invalid` for values that do not fit; 409 with the refusal's code; 404.
        """
        return self._decide(engine.approve, request, pk)

    def reject(self, request: Request, pk: str) -> Response:
        """Reject at the `gate`, as `approve`; what it asks for may be left out."""
        return self._decide(engine.reject, request, pk)

    def rerun(self, request: Request, pk: str) -> Response:
        """Start what has ended again, with its input, as a new execution: 201 with `Location`. `key`, `reason`."""
        return self._again(engine.rerun, requests.RerunRequest, request, pk)

    def fork(self, request: Request, pk: str) -> Response:
        """Do what has ended again from the step at `path` on: 201 with `Location`. `key`, `reason`."""
        return self._again(engine.fork, requests.ForkRequest, request, pk)

    def _act(
        self, verb: Callable[..., Execution], body: type[requests.VerbRequest], request: Request, pk: str
    ) -> Response:
        asked = checked(body, request)
        return self._shown(verb(id_in(pk), actor=actor_of(request), **asked))

    def _decide(self, verb: Callable[..., Execution], request: Request, pk: str) -> Response:
        asked, actor = checked(requests.DecisionRequest, request), actor_of(request)
        if asked["values"] is not None:
            asked["values"] = _filled(self.execution(pk), asked["gate"], asked["values"], actor)
        try:
            return self._shown(verb(id_in(pk), actor=actor, **asked))
        except InputError as error:
            raise ValidationError(dict(error.errors), code="invalid") from error

    def _again(
        self, verb: Callable[..., Execution], body: type[requests.RerunRequest], request: Request, pk: str
    ) -> Response:
        """What the saga of today does not take, or cannot, is in conflict with it: the request has no fault."""
        asked = checked(body, request)
        try:
            made = verb(id_in(pk), actor=actor_of(request), **asked)
        except (InputError, UnknownSaga, DefinitionError, Undecodable, KeyConflict) as error:
            raise problems.Conflict(str(error), NOT_AGAIN[type(error)]) from error
        where = {"Location": address_of(request, made)}
        return Response(serializers.Summary(made).data, status.HTTP_201_CREATED, headers=where)

    def _shown(self, execution: Execution) -> Response:
        return Response(serializers.Summary(execution).data)


def _output(execution: Execution, path: str, given: Any) -> Any:
    """What a step returned, in its own type as far as that is known here."""
    saga = registry.get(execution.saga, execution.revision)
    step = saga.step(path) if saga else None
    try:
        return converted(returned_by(step.function), given) if step else given
    except BROKEN as error:
        raise acting.refused(Refused("output_invalid", {"path": path, "reason": str(error)})) from error


def _filled(execution: Execution, gate: str, given: dict[str, Any], actor: Any) -> Any:
    """What was filled in, as the approval takes it; as it came where the engine is going to refuse it."""
    saga = registry.get(execution.saga, execution.revision)
    node = addressing.approval_at(saga, gate) if saga else None
    if saga is None or not isinstance(node, Approval):
        return given
    if node.permission is not None and not actor.has_perm(node.permission):  # nor do they learn what it asks for
        raise acting.refused(Refused("not_permitted", {"gate": gate}))
    return _converted(saga, node, gate, given)


def _converted(saga: Saga[Any], node: Approval, gate: str, given: dict[str, Any]) -> Any:
    wanted = wanted_at(saga, node)
    try:
        return given if wanted is None else wanted.convert(given)
    except InputError as error:
        params = {"gate": gate, "errors": dict(error.errors), "problems": str(error)}
        raise acting.refused(Refused("input_invalid", params)) from error
    except SagaError:
        raise
    except BROKEN as error:
        logger.warning("The input of approval %r broke on what the API was given.", gate, exc_info=True)
        params = {"gate": gate, "errors": {}, "problems": f"It cannot be read: {type(error).__name__}."}
        raise acting.refused(Refused("input_invalid", params)) from error
