"""A stored value in one line, for lists: redacted, and no longer than anybody reads there."""

from __future__ import annotations

import json
from typing import Any

from saga_app import codec
from saga_app.core.failures import readable
from saga_app.redacting import redacted

SHOWN = 160  # characters


def in_short(text: str, length: int) -> str:
    """What is stored, redacted, in one line: name and value of each field."""
    data = redacted(codec.plain(text) if len(text) >= length else codec.beginning(text))
    if not isinstance(data, dict):
        return _cut(json.dumps(data, ensure_ascii=False))
    return _cut(", ".join(f"{name}: {_plain(one)}" for name, one in data.items()))


def _plain(one: Any) -> str:
    return one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)


def _cut(text: str) -> str:
    text = readable(text)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
