"""JSON in and out: strict about what is read, ASCII in what is written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import IO, Any, NoReturn

from rest_framework import status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer

from saga_app.conf import settings

MAX_DEPTH = 64  # far more than an input has, far less than what exhausts the stack of anything it meets
ENVELOPE = 64 * 1024  # what a body may need around its largest value


class TooLarge(APIException):
    """The body is larger than any input may be."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = "The body is larger than an input may be."
    default_code = "too_large"


class StrictJSONParser(BaseParser):
    """One JSON value in UTF-8, as RFC 8259 has it: no NaN, no name twice in an object, not endlessly deep.

    The size is bounded here, by SAGA["MAX_VALUE_BYTES"], since a stream is not bounded by Django's own limit.
    """

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return the value, or raise ParseError or TooLarge."""
        limit = settings.MAX_VALUE_BYTES + ENVELOPE
        body = stream.read(limit + 1)
        if len(body) > limit:
            raise TooLarge
        return loads(body)


def loads(body: bytes | str) -> Any:
    """The JSON value in the text. Raises ParseError for everything that is not plain JSON."""
    try:
        text = body.decode("utf-8") if isinstance(body, bytes) else body
        value = json.loads(text, parse_constant=_constant, parse_float=_finite, object_pairs_hook=_object)
    except RecursionError:
        raise ParseError("JSON parse error: nested too deeply", code="too_deep") from None
    except ValueError as error:  # also what is no UTF-8, and an integer of thousands of digits
        raise ParseError(f"JSON parse error: {error}") from None
    if _depth(value) > MAX_DEPTH:
        raise ParseError(f"JSON parse error: nested more than {MAX_DEPTH} deep", code="too_deep")
    return value


class ASCIIJSONRenderer(BaseRenderer):
    """JSON in which everything beyond ASCII is escaped, so that lone surrogates, which values may hold, are valid."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        """Return the bytes; none at all for an answer without content."""
        return b"" if data is None else json.dumps(data, ensure_ascii=True, allow_nan=False).encode("ascii")


class ProblemRenderer(ASCIIJSONRenderer):
    """The same, for a client that accepts nothing but problems and hopes to see none."""

    media_type = "application/problem+json"


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    """1e999 is well-formed, and would be read as infinity."""
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text[:20]} is too large for a number")
    return number


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A name that comes twice means two things, and each reader would choose another."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has one name twice")
    return found


def _depth(value: Any) -> int:
    """How many containers are inside each other; level by level, since recursion is what is to be prevented."""
    level, depth = _children([value]), 0
    while level:
        level, depth = [child for container in level for child in _children(_items(container))], depth + 1
    return depth


def _items(container: Any) -> Iterable[Any]:
    return container.values() if isinstance(container, dict) else container


def _children(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if isinstance(value, dict | list)]
