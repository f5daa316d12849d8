"""Why a row of ours is not saved or deleted by hand."""

from __future__ import annotations

from typing import NoReturn


def refuse_write(what: str, cure: str) -> NoReturn:
    """Raise TypeError: the ORM is not the way to change this row."""
    msg = f"{what} is not saved or deleted by hand: {cure}"
    raise TypeError(msg)
