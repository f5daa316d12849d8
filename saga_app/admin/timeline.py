"""The timeline of an execution as a picture and as a table: when it worked, when it waited, and for what."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone
from django.utils.text import Truncator
from django.utils.translation import gettext as _

from saga_app import messages
from saga_app.admin.values import took
from saga_app.core.axis import Axis, axis
from saga_app.core.failures import readable
from saga_app.core.snapshot import Record, Snapshot
from saga_app.core.timeline import Bar, Lane, Row, timeline, windows

BARS = 100  # on one page of it
WIDTH, LABELS, RIGHT = 880.0, 220.0, 14.0
HEAD, LINE, FOOT = 34.0, 22.0, 24.0
THICK, THIN, LEAST = 12.0, 5.0, 3.0
FITS = 30  # characters in the column of labels
NEAR = 0.06  # of the axis: a text in the middle would be cut off
ROOM = 40.0  # what the length of a squeezed stretch needs to be written
GOOD = ("returned", "happened", "not_happened", "completed", "skipped")


@dataclass(frozen=True, slots=True)
class Mark:
    """Something at a place: a moment of the axis, a squeezed stretch, a line across all rows, a lane's name."""

    x: str
    y: str
    text: str
    width: str = ""
    anchor: str = "middle"


@dataclass(frozen=True, slots=True)
class Drawn:
    """A bar. `mark`: a path above it that says that an attempt failed, for those who do not see its colour."""

    kind: str
    x: str
    y: str
    width: str
    height: str
    tip: str
    mark: str


@dataclass(frozen=True, slots=True)
class Strip:
    """A row: the step's path, where more of it is told, and its bars."""

    y: str
    label: str
    tip: str
    link: str
    bars: list[Drawn]


@dataclass(frozen=True, slots=True)
class Told:
    """A bar as a line of the table."""

    path: str
    link: str
    lane: str
    attempt: int | None
    what: str
    start: datetime
    end: datetime | None
    took: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """What `parts/timeline.html` prints: one page of it."""

    width: str
    height: str
    bottom: str
    start: datetime
    end: datetime
    lanes: list[Mark]
    ticks: list[Mark]
    squeezed: list[Mark]
    lines: list[Mark]
    strips: list[Strip]
    table: list[Told]
    page: int
    pages: int

    @property
    def before(self) -> int | None:
        """The page before, if there is one."""
        return self.page - 1 if self.page > 1 else None

    @property
    def after(self) -> int | None:
        """The page after, if there is one."""
        return self.page + 1 if self.page < self.pages else None


def timeline_of(
    x: Snapshot, created_at: datetime, now: datetime, wanted: str | None, link: Callable[[Record], str]
) -> Timeline:
    """One page of the timeline.

    Args:
        x: the execution as it is, or was.
        created_at: when it was started.
        now: where what is not over ends.
        wanted: which page, as the address says; None: that of the step it stopped at, or of the latest that goes on.
        link: where more of a step is told.
    """
    pages = windows(timeline(x, created_at), BARS)
    page = _page(x, pages, wanted)
    return _Picture(x, pages[page - 1], created_at, now, link).drawn(page, len(pages))


def _page(x: Snapshot, pages: Sequence[Sequence[Row]], wanted: str | None) -> int:
    if wanted is not None and wanted.isdecimal():
        return min(max(int(wanted[:6]), 1), len(pages))
    found = [
        at
        for at, rows in enumerate(pages, 1)
        for row in rows
        if row.record and (row.record.path == x.failing_path or (x.finished_at is None and row.bars[-1].end is None))
    ]
    return found[-1] if found else 1


class _Picture:
    def __init__(
        self, x: Snapshot, rows: Sequence[Row], created_at: datetime, now: datetime, link: Callable[[Record], str]
    ) -> None:
        self.x, self.rows, self.now, self.link = x, rows, now, link
        bars = [bar for row in rows for bar in row.bars]
        moments = [one for bar in bars for one in (bar.start, self._end(bar))]
        self.axis: Axis = axis(moments or [created_at], [(bar.start, self._end(bar)) for bar in bars if bar.works])

    def drawn(self, page: int, pages: int) -> Timeline:
        """All of it."""
        pieces = self.axis.pieces
        lanes: list[Mark] = []
        strips: list[Strip] = []
        y, lane = HEAD, None
        for row in self.rows:
            if row.lane is not lane:
                lane = row.lane
                lanes.append(
                    Mark("0", _number(y + 15), _("Forward") if lane is Lane.FORWARD else _("Back"), "", "start")
                )
                y += LINE
            strips.append(self._strip(row, y))
            y += LINE
        return Timeline(
            width=_number(WIDTH),
            height=_number(y + FOOT),
            bottom=_number(y + 4),
            start=pieces[0].start,
            end=pieces[-1].end,
            lanes=lanes,
            ticks=list(self._ticks(y + 18)),
            squeezed=[self._squeezed(one.left, one.right, one.seconds) for one in pieces if one.squeezed],
            lines=list(self._lines()),
            strips=strips,
            table=[told for row in self.rows for told in self._table(row)],
            page=page,
            pages=pages,
        )

    def _end(self, bar: Bar) -> datetime:
        return max(bar.start, self.now) if bar.end is None else bar.end

    def _x(self, moment: datetime) -> float:
        return _place(self.axis.at(moment))

    def _strip(self, row: Row, y: float) -> Strip:
        path = readable(row.record.path) if row.record else _("before it began")
        bars = [self._bar(bar, path, y) for bar in row.bars]
        return Strip(_number(y + 15), _middle(path), path, self._link(row), bars)

    def _link(self, row: Row) -> str:
        return self.link(row.record) if row.record else ""

    def _bar(self, bar: Bar, path: str, y: float) -> Drawn:
        left, right = self._x(bar.start), self._x(self._end(bar))
        height = THICK if bar.works else THIN
        failed = bar.works and bar.outcome != "" and bar.outcome not in GOOD
        kind = ("failed" if failed else "works") if bar.works else "waits"
        kind += " saga-goes-on" if bar.end is None else ""
        top = y + (LINE - height) / 2
        right = max(right, left + LEAST)
        mark = f"M{_number(right - 4)} {_number(top - 5)} h8 l-4 6 Z" if failed else ""
        tip = f"{path}: {self._what(bar)}, {_stamp(bar.start)}, {self._took(bar)}"
        return Drawn(kind, _number(left), _number(top), _number(right - left), _number(height), tip, mark)

    def _what(self, bar: Bar) -> str:
        if bar.why is not None:
            return messages.word(messages.WAIT, bar.why)
        said = messages.word(messages.OUTCOME, bar.outcome) if bar.outcome else messages.step_word("running")
        return _("attempt %(number)d: %(outcome)s") % {"number": bar.attempt, "outcome": said} if bar.attempt else said

    def _took(self, bar: Bar) -> str:
        seconds = (self._end(bar) - bar.start).total_seconds()
        return took(seconds) if bar.end is not None else _("%(time)s so far") % {"time": took(seconds)}

    def _table(self, row: Row) -> Iterator[Told]:
        path = readable(row.record.path) if row.record else _("before it began")
        lane = messages.word(messages.DIRECTION, "forward" if row.lane is Lane.FORWARD else "compensate")
        for bar in row.bars:
            what = self._what(bar)
            yield Told(path, self._link(row), lane, bar.attempt, what, bar.start, bar.end, self._took(bar))

    def _ticks(self, y: float) -> Iterator[Mark]:
        pieces = self.axis.pieces
        days = timezone.localtime(pieces[0].start).date() != timezone.localtime(pieces[-1].end).date()
        shown = sum(piece.seconds for piece in pieces if not piece.squeezed)
        for place, moment in self.axis.ticks():
            here = timezone.localtime(moment)
            text = _clock(here, shown, days=days)
            anchor = "start" if place < NEAR else "end" if place > 1 - NEAR else "middle"
            yield Mark(_number(_place(place)), _number(y), text, "", anchor)

    def _squeezed(self, left: float, right: float, seconds: float) -> Mark:
        x, width = _place(left), _place(right) - _place(left)
        return Mark(_number(x), _number(HEAD - 2), took(seconds) if width >= ROOM else "", _number(width))

    def _lines(self) -> Iterator[Mark]:
        """The moments from which only one way was left, where they are on this page."""
        start, end = self.axis.pieces[0].start, self.axis.pieces[-1].end
        for at, moment, text in ((0, self.x.pivoted_at, _("pivot")), (1, self.x.unwinding_at, _("turned back"))):
            if moment is not None and start <= moment <= end:
                yield Mark(_number(self._x(moment)), _number(11 + 13 * at), text)


def _clock(here: datetime, seconds: float, *, days: bool) -> str:
    """A moment under the axis, as finely as neighbours differ on a line of so many seconds."""
    if seconds < 2:  # noqa: PLR2004
        return f"{here:%M:%S}.{here.microsecond // 1000:03}"
    if seconds < 20:  # noqa: PLR2004
        return f"{here:%H:%M:%S}.{here.microsecond // 100_000}"
    return f"{here:%m-%d %H:%M}" if days else f"{here:%H:%M:%S}"


def _place(part: float) -> float:
    return LABELS + part * (WIDTH - LABELS - RIGHT)


def _middle(path: str) -> str:
    """A path whose end, the step's name, is always there."""
    return path if len(path) <= FITS else f"{Truncator(path).chars(9)}{path[-(FITS - 9) :]}"


def _stamp(moment: datetime) -> str:
    return f"{timezone.localtime(moment):%Y-%m-%d %H:%M:%S}"


def _number(value: float) -> str:
    """As SVG wants it, in every language."""
    return f"{value:.1f}".removesuffix(".0")
