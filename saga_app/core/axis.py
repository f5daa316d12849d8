"""Moments on a line, to scale; a long quiet stretch is squeezed, or what was done around it would be dots."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TypeAlias

Stretch: TypeAlias = tuple[datetime, datetime]

QUIET = 8  # a stretch without work that is this many times as long as all work together is squeezed
SQUEEZED, ALL_SQUEEZED = 0.07, 0.4  # of the line: one such stretch, and all together
APART = 0.13  # of the line: between two moments that are written under it
STEPS = (
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600,
    7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000, 7776000, 31536000, 315360000,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the line with a scale of its own."""

    start: datetime
    end: datetime
    left: float
    right: float
    squeezed: bool

    @property
    def seconds(self) -> float:
        """How long it is."""
        return (self.end - self.start).total_seconds()

    def at(self, moment: datetime) -> float:
        """Where on the line the moment is."""
        if self.seconds <= 0:
            return self.left
        part = (moment - self.start).total_seconds() / self.seconds
        return self.left + (self.right - self.left) * min(max(part, 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class Axis:
    """The line, from 0 to 1."""

    pieces: tuple[Piece, ...]

    def at(self, moment: datetime) -> float:
        """Where a moment is; what is before the line is at its beginning, what is after it at its end."""
        place = bisect_right([piece.start for piece in self.pieces], moment) - 1
        return self.pieces[max(place, 0)].at(moment)

    def ticks(self) -> list[tuple[float, datetime]]:
        """Moments to write under it, not too close to each other: where a stretch is squeezed, and round ones."""
        corners = {(piece.at(moment), moment) for piece in self.pieces for moment in (piece.start, piece.end)}
        kept = _apart(sorted(corners), [])
        return _apart(sorted(self._round()), kept)

    def _round(self) -> Iterable[tuple[float, datetime]]:
        for piece in self.pieces:
            width = piece.right - piece.left
            if piece.squeezed or width < 2 * APART:
                continue
            step = next((one for one in STEPS if one >= piece.seconds * APART / width), STEPS[-1])
            zero = datetime(piece.start.year, 1, 1, tzinfo=UTC)
            count = int((piece.start - zero).total_seconds() // step) + 1
            while (moment := zero + timedelta(seconds=count * step)) < piece.end:
                yield piece.at(moment), moment
                count += 1


def axis(moments: Iterable[datetime], work: Iterable[Stretch]) -> Axis:
    """The line for these moments.

    Args:
        moments: everything that must be on it; at least one.
        work: when something was worked at. Only what is between such stretches is squeezed.
    """
    busy = _together(work)
    points = sorted({*moments, *(end for stretch in busy for end in stretch)})
    stretches = list(pairwise(points)) or [(points[0], points[0])]
    lengths = [(end - start).total_seconds() for start, end in stretches]
    worked = sum((end - start).total_seconds() for start, end in busy)
    quiet = [
        length > QUIET * worked > 0 and not _meets(busy, one) for one, length in zip(stretches, lengths, strict=True)
    ]
    return Axis(tuple(_pieces(_joined(stretches, quiet))))


def _joined(stretches: Sequence[Stretch], quiet: Sequence[bool]) -> list[tuple[Stretch, bool]]:
    """Neighbours that are to scale are one piece."""
    found: list[tuple[Stretch, bool]] = []
    for (start, end), squeezed in zip(stretches, quiet, strict=True):
        if found and not squeezed and not found[-1][1]:
            found[-1] = ((found[-1][0][0], end), False)
        else:
            found.append(((start, end), squeezed))
    return found


def _pieces(parts: Sequence[tuple[Stretch, bool]]) -> Iterable[Piece]:
    count = sum(squeezed for _, squeezed in parts)
    each = min(SQUEEZED, ALL_SQUEEZED / count) if count else 0.0
    scale = sum((end - start).total_seconds() for (start, end), squeezed in parts if not squeezed) or 1.0
    left = 0.0
    for at, ((start, end), squeezed) in enumerate(parts):
        length = each if squeezed else (1 - each * count) * (end - start).total_seconds() / scale
        right = 1.0 if at == len(parts) - 1 else min(left + length, 1.0)
        yield Piece(start, end, left, right, squeezed)
        left = right


def _together(work: Iterable[Stretch]) -> list[Stretch]:
    """The stretches, those that meet made one."""
    found: list[Stretch] = []
    for start, end in sorted(work):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def _meets(busy: Sequence[Stretch], one: Stretch) -> bool:
    """Whether something was worked at within; only at its very ends does not count."""
    place = bisect_right([start for start, _ in busy], one[0]) - 1
    return any(start < one[1] and end > one[0] for start, end in busy[max(place, 0) : place + 2])


def _apart(found: Iterable[tuple[float, datetime]], kept: list[tuple[float, datetime]]) -> list[tuple[float, datetime]]:
    """With those that are not too close to one that is kept."""
    for one in found:
        if all(abs(one[0] - other[0]) >= APART for other in kept):
            kept = sorted([*kept, one])
    return kept
