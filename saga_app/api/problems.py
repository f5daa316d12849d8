"""Every error as application/problem+json (RFC 9457): a code for programs, a sentence for people, where to look.

    {"type": "about:blank", "title": "Conflict", "status": 409, "code": "not_stuck",
     "detail": "…", "errors": [{"pointer": "/version", "code": "…", "detail": "…"}]}

`errors` is there when parts of the request are to blame: `pointer` is a JSON Pointer into the body, `parameter` the
name of a query parameter.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404, UnreadablePostError
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.views import set_rollback

from saga_app.core import errors as saga_errors
from saga_app.core.inputs import WHOLE

CONTENT_TYPE = "application/problem+json"
Blame = dict[str, str]

_PART = re.compile(r"""\[(?P<quoted>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\]|(?P<plain>[^.\[\]]+)""")


class BadQuery(exceptions.ValidationError):
    """Query parameters that mean nothing; `detail` maps their names to what is wrong with each."""


class Conflict(exceptions.APIException):
    """What is asked for cannot be, as things are."""

    status_code = HTTPStatus.CONFLICT


def handler(exc: Exception, context: Mapping[str, Any]) -> Response | None:  # noqa: ARG001 - the framework's signature
    """Say what the exception means, or None for one that is a defect: that stays a 500, and in the log.

    An open ATOMIC_REQUESTS transaction is rolled back: an error has changed nothing.
    """
    response = _of_saga(exc) if isinstance(exc, saga_errors.SagaError) else _of_framework(exc)
    if response is not None:
        set_rollback()
    return response


def problem(status: int, code: str, detail: str, blame: Sequence[Blame] = (), headers: Any = None) -> Response:
    """One problem as a response."""
    data: dict[str, Any] = {
        "type": "about:blank",  # the title is the status's own; what it is about is told by the code
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": detail,
    }
    if blame:
        data["errors"] = list(blame)
    return Response(data, status=status, headers=headers, content_type=CONTENT_TYPE)


def pointer(*parts: object) -> str:
    """A JSON Pointer (RFC 6901)."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def inside_input(path: str) -> str:
    """The pointer to a place in the input that an error calls `lines[0].sku` or `['odd key']`."""
    found = _PART.finditer(path)
    return pointer("input", *(literal_eval(part["quoted"]) if part["quoted"] else part["plain"] for part in found))


def _of_saga(exc: saga_errors.SagaError) -> Response | None:
    detail = str(exc)
    match exc:
        case saga_errors.VerbRefused():
            return _of_refusal(exc, detail)
        case saga_errors.KeyConflict():
            wrong = [_blame(inside_input(path), "differs", path) for path in exc.paths]
            return problem(409, "key_conflict", detail, wrong)
        case saga_errors.InputError():
            names = ((pointer("input") if name == WHOLE else pointer("input", name), name) for name in exc.errors)
            wrong = [_blame(where, "invalid", exc.errors[name]) for where, name in names]
            return problem(400, "invalid_input", detail, wrong)
        case saga_errors.UnsupportedValue():
            return problem(400, "unsupported_value", detail, [_blame(inside_input(exc.path), "invalid", exc.reason)])
        case saga_errors.UnknownSaga():
            return problem(400, "unknown_saga", detail, [_blame("/saga", "unknown_saga", detail)])
        case saga_errors.UnknownExecution():
            return problem(404, "not_found", detail)
    return None


def _of_refusal(exc: saga_errors.VerbRefused, detail: str) -> Response:
    """Most verbs are refused for what the execution is; some for what was asked, or by whom."""
    match exc.code:
        case "reason_required":
            return problem(400, exc.code, detail, [_blame("/reason", exc.code, detail)])
        case "output_invalid":
            return problem(400, exc.code, detail, [_blame("/output", exc.code, detail)])
        case "input_invalid":
            errors: Any = exc.params["errors"]
            places = ((pointer("values") if name == WHOLE else pointer("values", name), name) for name in errors)
            return problem(400, exc.code, detail, [_blame(where, "invalid", errors[name]) for where, name in places])
        case "not_permitted" | "four_eyes":
            return problem(403, exc.code, detail)
    return problem(409, exc.code, detail)


def _of_framework(exc: Exception) -> Response | None:
    match exc:
        case BadQuery():
            said = _leaves(exc.detail, ())
            wrong = [{"parameter": str(where[0]), "code": code, "detail": text} for where, code, text in said]
            return problem(400, "invalid_query", "The query has parameters that mean nothing here.", wrong)
        case exceptions.ValidationError():
            wrong = [_blame(pointer(*where), code, text) for where, code, text in _leaves(exc.detail, ())]
            return problem(400, "invalid", "The body is not what this address takes.", wrong)
        case exceptions.APIException():
            return problem(exc.status_code, str(exc.get_codes()), str(exc.detail), headers=_headers(exc))
        case Http404():
            return problem(404, "not_found", str(exceptions.NotFound.default_detail))
        case PermissionDenied():
            return problem(403, "permission_denied", str(exceptions.PermissionDenied.default_detail))
        case RequestDataTooBig():
            return problem(413, "too_large", "The body is larger than this site takes.")
        case SuspiciousOperation() | UnreadablePostError():
            return problem(400, "bad_request", "The request cannot be read.")
    return None


def _blame(where: str, code: str, detail: str) -> Blame:
    return {"pointer": where, "code": code, "detail": detail}


def _headers(exc: exceptions.APIException) -> dict[str, str]:
    headers = {}
    if auth_header := getattr(exc, "auth_header", None):
        headers["WWW-Authenticate"] = auth_header
    if wait := getattr(exc, "wait", None):
        headers["Retry-After"] = f"{wait:.0f}"
    return headers


def _leaves(detail: Any, where: tuple[object, ...]) -> Iterator[tuple[tuple[object, ...], str, str]]:
    """Where, code and text of each error in what a serializer raised."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            yield from _leaves(inner, where if name == api_settings.NON_FIELD_ERRORS_KEY else (*where, name))
    elif isinstance(detail, list):
        for inner in detail:
            yield from _leaves(inner, where)
    else:
        yield where, getattr(detail, "code", None) or "invalid", str(detail)
