"""What stored values and failures look like on a page: short, readable, and never more than a page can carry."""

from __future__ import annotations

import json
from dataclasses import dataclass

from django.utils.translation import gettext as _

from saga_app import codec, messages
from saga_app.core.failures import ErrorInfo, readable
from saga_app.redacting import redacted

MAX_VALUE = 4_000  # characters of one value; twenty steps with two of these are a page that still loads at once
MAX_TRACEBACK = 6_000
MAX_ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class Failure:
    """One failure as a page shows it.

    Attributes:
        line: class and message in one line.
        details: the traceback, the notes at its end.
    """

    line: str
    details: str


def value(text: str | None, length: int | None = None, *names: str) -> str:
    """A stored value as indented JSON, redacted; the beginning of it where it is too long for a page.

    Args:
        text: what is stored, or its first MAX_VALUE + 1 characters.
        length: how long the stored text is, where `text` may be a part of it.
        names: what it is called.
    """
    if text is None:
        return ""
    length = len(text) if length is None else length
    is_cut = len(text) < length
    data = codec.beginning(text) if is_cut else codec.plain(text)
    shown = readable_lines(json.dumps(redacted(data, *names), indent=2, ensure_ascii=False))
    if not is_cut and len(shown) <= MAX_VALUE:
        return shown
    total = length if is_cut else len(shown)
    return shown[:MAX_VALUE] + "\n" + _("… the beginning of %(length)d characters") % {"length": total}


def failure(text: str | None) -> Failure | None:
    """A stored failure as a page shows it."""
    if text is None:
        return None
    info = ErrorInfo.from_json(text)
    details = "\n".join([info.traceback, *info.notes]).strip()
    return Failure(readable(info.text), _end(readable_lines(details), MAX_TRACEBACK))


def took(seconds: float) -> str:
    """A length of time, as finely as it is short; none where a clock has gone back meanwhile."""
    seconds = max(seconds, 0.0)
    return messages.seconds(seconds, 2) if seconds < 60 else messages.span(seconds)  # noqa: PLR2004 - a minute


def readable_lines(text: str) -> str:
    """Text that any page can take, its line breaks kept."""
    return "\n".join(readable(line) for line in text.split("\n"))


def _end(text: str, limit: int) -> str:
    """The end of a traceback is where it says what happened."""
    return text if len(text) <= limit else "…\n" + text[-limit:]
