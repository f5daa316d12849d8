"""The ids that a line of the history mentions, as ways to what they are of: a batch, another execution."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from saga_app.templatetags.addresses import address

#: What an event calls an id → whose page it leads to. Whoever sees the history may see those, too.
PAGES = {
    "batch": "operatorbatch",
    "rerun_of": "execution",
    "fork_of": "execution",
    "parent": "execution",
    "child": "execution",
}


def linked(request: HttpRequest, text: str, data: Any) -> SafeString:
    """What is said of an event's data, where each id that has a page leads to it."""
    pages = dict(_pages(request, data))
    pieces = re.split(f"({'|'.join(pages)})", text) if pages else [text]
    return format_html_join("", "{}", ((_way(pages[one], one) if one in pages else one,) for one in pieces))


def _way(address: str, id_: str) -> SafeString:
    return format_html('<a href="{}">{}</a>', address, id_)


def _pages(request: HttpRequest, data: Any) -> Iterator[tuple[str, str]]:
    for name, value in data.items() if isinstance(data, Mapping) else ():
        if name in PAGES and _is_id(value) and (found := address(request, f"{PAGES[name]}_change", value)):
            yield value, found


def _is_id(value: object) -> bool:
    try:
        return isinstance(value, str) and str(UUID(value)) == value
    except ValueError:
        return False
