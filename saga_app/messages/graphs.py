"""What is written on a graph, in the reader's language. A graph is kept as it was drawn, and that is in English."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal

from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_noop

HOLE = "{}"
SPAN = re.compile(r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?) (d|h|min|s)")
UNITS = {
    "d": gettext_noop("%s d"),
    "h": gettext_noop("%s h"),
    "min": gettext_noop("%s min"),
    "s": gettext_noop("%s s"),
}

#: Below the title of a node: as core.graph_labels writes it, longer ones before those they begin with.
LINES = (
    gettext_noop("revision {}"),
    gettext_noop("at most {} turns"),
    gettext_noop("one after the other"),
    gettext_noop("{} at a time"),
    gettext_noop("saga {}"),
    gettext_noop("not undone"),
    gettext_noop("compute"),
    gettext_noop("atomic"),
    gettext_noop("optional"),
    gettext_noop("undone"),
    gettext_noop("undone by {}"),
    gettext_noop("queue {}"),
    gettext_noop("signal {}"),
    gettext_noop("four eyes"),
    gettext_noop("rejected: fails"),
    gettext_noop("after {}: fails"),
    gettext_noop("for as long as computed"),
    gettext_noop("until as long as computed"),
    gettext_noop("until {}"),
    gettext_noop("for {}"),
    gettext_noop("an unwind stops here"),
    gettext_noop("from here on only forward"),
)
#: On the frame around a node and what is in it.
FRAMES = (
    gettext_noop("branch {}"),
    gettext_noop("if {}"),
    gettext_noop("while {}"),
    gettext_noop("repeat until {}"),
    gettext_noop("for each {}"),
    gettext_noop("wait for {}"),
    gettext_noop("approval {}"),
    gettext_noop("in parallel"),
    gettext_noop("try"),
)
#: On a frame around one of several rows; other names are their author's.
BLOCKS = {
    "timeout": gettext_noop("its time was up"),
    "reject": gettext_noop("rejected"),
    "true": gettext_noop("yes"),
    "false": gettext_noop("no"),
    "try": gettext_noop("try"),
    "recover": gettext_noop("when that fails"),
}
#: Beside a line, by its kind; what is not here is its author's.
EDGES = {
    "next": (gettext_noop("each"), gettext_noop("done"), gettext_noop("approved")),
    "timeout": (gettext_noop("after {}"),),
    "rejected": (gettext_noop("rejected"),),
}
#: Titles that no author gave.
TITLES = {
    "end": gettext_noop("end"),
    "pivot": gettext_noop("Pivot"),
    "parallel": gettext_noop("Parallel"),
    "try": gettext_noop("Try"),
}


def title(kind: str, text: str) -> str:
    """The title of a node."""
    return gettext(text) if TITLES.get(kind) == text else text


def line(text: str) -> str:
    """A line below it."""
    return _among(LINES, text)


def frame(kind: str, text: str) -> str:
    """What stands on a frame."""
    if kind == "block":
        return gettext(BLOCKS[text]) if text in BLOCKS else text
    return _among(FRAMES, text)


def edge(kind: str, text: str) -> str:
    """What stands beside a line that leads from one node to another."""
    if kind in ("choice", "turn"):
        return frame("block", text)
    return _among(EDGES.get(kind, ()), text)


def _among(known: Iterable[str], text: str) -> str:
    """The translation of the one that fits, with what stands in its hole."""
    for english in known:
        before, hole, after = english.partition(HOLE)
        if not hole and text == english:
            return gettext(english)
        if hole and len(text) > len(before + after) and text.startswith(before) and text.endswith(after):
            inside = text[len(before) : len(text) - len(after)]
            return gettext(english).replace(HOLE, _length(inside))
    return text


def _length(text: str) -> str:
    """A length of time has its unit translated, and its number written; anything else is a name."""
    found = SPAN.fullmatch(text)
    return gettext(UNITS[found[2]]) % number_format(Decimal(found[1])) if found else text
