"""What an execution may be started with besides its input, and sent, checked before a database sees it."""

from __future__ import annotations

from datetime import datetime

from saga_app.core.errors import InputError

_LONGEST_KEY = 255
_FARTHEST_PRIORITY = 32767  # what the column holds


def check_start(saga: str, *, key: object, priority: object = 0, due: object = None) -> None:
    """Refuse what the table would: an error of the database would break the caller's transaction."""
    told = {"key": _problem_of_key(key), "priority": _problem_of_priority(priority), "due": _problem_of_due(due)}
    if problems := {name: problem for name, problem in told.items() if problem}:
        raise InputError(saga, problems)


def check_signal(saga: str, *, name: object, key: object) -> None:
    """Refuse what the table of signals would."""
    told = {"name": "is missing" if name is None else _problem_of_key(name), "key": _problem_of_key(key)}
    if problems := {name: problem for name, problem in told.items() if problem}:
        raise InputError(saga, problems)


def _problem_of_priority(priority: object) -> str:
    if not isinstance(priority, int) or isinstance(priority, bool):
        return f"must be a whole number, is {type(priority).__name__}"
    return "" if abs(priority) <= _FARTHEST_PRIORITY else f"must be from -{_FARTHEST_PRIORITY} to {_FARTHEST_PRIORITY}"


def _problem_of_due(due: object) -> str:
    if due is None or (isinstance(due, datetime) and due.tzinfo is not None):
        return ""
    return "must be an aware datetime, as in datetime(2026, 5, 1, 12, tzinfo=UTC)"


def _problem_of_key(key: object) -> str:
    if key is None:
        return ""
    if not isinstance(key, str):
        return f"must be a text, is {type(key).__name__}"
    if not key:
        return "must not be empty; leave it out"
    if len(key) > _LONGEST_KEY:
        return f"has {len(key)} characters, and may have {_LONGEST_KEY}"
    unstorable = any(letter == "\x00" or "\ud800" <= letter <= "\udfff" for letter in key)
    return "has a NUL or a lone surrogate, which no database stores" if unstorable else ""
