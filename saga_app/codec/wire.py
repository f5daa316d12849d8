"""The stored form: ASCII JSON in which what JSON has no word for is an object with one key that begins with `$`."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

Json: TypeAlias = Any  # what json.loads returns

DICT, TUPLE, SET, FROZENSET = "$dict", "$tuple", "$set", "$frozenset"
ENUM, FLAG, DATACLASS, NAMEDTUPLE, MODEL = "$enum", "$flag", "$dataclass", "$namedtuple", "$model"


#: Decoding these runs code of the project, or reads a row of it.
LIVE = (ENUM, FLAG, DATACLASS, NAMEDTUPLE, MODEL)


def is_live(text: str) -> bool:
    return any(f'"{tag}"' in text for tag in LIVE)


def looks_tagged(keys: Any) -> bool:
    """Whether a dict would be taken for a tag; one that the user wrote is stored as pairs."""
    return len(keys) == 1 and str(next(iter(keys))).startswith("$")


def tag_of(data: Json) -> str | None:
    return next(iter(data)) if isinstance(data, dict) and looks_tagged(data) else None


def dumps(data: Json) -> str:
    return json.dumps(data, separators=(",", ":"), allow_nan=False)


def canonical(data: Json) -> str:
    """The same text for the same data, in whatever order its keys stand."""
    return json.dumps(data, separators=(",", ":"), sort_keys=True)


def loads(text: str) -> Json:
    return json.loads(text, parse_constant=_refuse)


def _refuse(constant: str) -> Json:
    raise ValueError(f"{constant} is no value")
