"""The words of an enum as plain text, so that a migration does not depend on where the enum lives."""

from __future__ import annotations

from enum import StrEnum


def words(enum: type[StrEnum]) -> list[str]:
    """Its values, in the order they are written."""
    return [word.value for word in enum]
