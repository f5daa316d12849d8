"""Lengths of time, the way people say them."""

from __future__ import annotations

from django.utils.formats import number_format
from django.utils.translation import gettext


def seconds(length: float, places: int) -> str:
    """A length in seconds and parts of one, as the language writes numbers."""
    return gettext("%s s") % number_format(length, places)


def span(seconds: object) -> str:
    """A length of time in one unit, the way people say it."""
    if not isinstance(seconds, int | float):
        return "?"
    for size, text in ((86400, gettext("%d d")), (3600, gettext("%d h")), (60, gettext("%d min"))):
        if seconds >= size:
            return text % (seconds // size)
    return gettext("%d s") % max(seconds, 0)
