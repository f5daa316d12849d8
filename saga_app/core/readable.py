"""Text that every database, page and terminal can take, however it came about."""

from __future__ import annotations

import re

# Lone surrogates fit no UTF-8 text and NUL no PostgreSQL text; the other control characters could rewrite a terminal,
# and those of the direction of writing turn round the sentence that the text is put into.
_HOSTILE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def readable(text: str) -> str:
    r"""The text with NUL as `\x00` and a lone surrogate as `\ud800`."""
    return _HOSTILE.sub(lambda found: ascii(found[0])[1:-1], text)


def bounded(text: str, limit: int) -> str:
    """The beginning of a long text, readable, and how long it was. What is cut off is not looked at."""
    shown = readable(text[:limit])
    if len(text) <= limit and len(shown) <= limit:
        return shown
    mark = f"… ({len(text):,} characters)"
    return shown[: limit - len(mark)] + mark
