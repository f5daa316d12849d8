"""The run page at a past moment: which one the address asks for, and the moments beside it as links."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import QueryDict

from saga_app import clock
from saga_app.core.past import Told

MANY = 10_000  # lines of a history that are read for this


class Line(NamedTuple):
    """A line of the history, as far as it is needed to look back."""

    id: int
    told: Told


@dataclass(frozen=True, slots=True)
class Then:
    """The moment that is looked at, among all at which something became otherwise.

    Attributes:
        at: the moment.
        number: which of them it is, from 1; 0 before the first.
        count: how many there are.
        is_past: somebody asked for it: the page does not show what is now.
        first, before, after: addresses of other moments; empty where there is none.
    """

    at: datetime
    number: int
    count: int
    is_past: bool
    first: str
    before: str
    after: str


def lines_of(events: QuerySet[Any]) -> list[Line]:
    """A history, the oldest line first; of a very long one the latest lines."""
    found = events.order_by("-id").values_list("id", "at", "type", "data_text")[:MANY]
    return [Line(number, Told(at, kind, json.loads(data))) for number, at, kind, data in reversed(found)]


def then_of(query: QueryDict, known: Sequence[datetime], lines: Sequence[Line]) -> Then:
    """What the address asks for: `at` is a moment or the number of an event, `moment` counts the moments from 1."""
    asked = _at(query.get("at", ""), lines) or _counted(query.get("moment", ""), known)
    if asked is not None and asked > clock.now():
        asked = None
    at = known[-1] if asked is None else asked
    number = bisect_right(known, at)
    earlier = [one for one in known[max(number - 2, 0) : number] if one < at]
    return Then(
        at=at,
        number=number,
        count=len(known),
        is_past=asked is not None,
        first=address(known[0]),
        before=address(earlier[-1]) if earlier else "",
        after=address(known[number]) if number < len(known) else "",
    )


def address(moment: datetime) -> str:
    """The run page as it was at that moment."""
    return "?" + urlencode({"at": f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"})


def _at(text: str, lines: Sequence[Line]) -> datetime | None:
    if text.isdecimal():
        return next((line.told.at for line in lines if str(line.id) == text), None)
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _counted(text: str, known: Sequence[datetime]) -> datetime | None:
    if not text.isdecimal():
        return None
    return known[min(max(int(text[:9]), 1), len(known)) - 1]
