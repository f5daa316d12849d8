"""The line of a timeline: in order, whole, to scale where something was worked at, and legible under it."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from saga_app.core.axis import APART, Axis, axis
from tests.pictures import NOW

seconds = st.floats(0, 10**8, allow_nan=False) | st.sampled_from([0.0, 0.001, 1.0, 60.0, 3600.0])


def at(number: float) -> Any:
    return NOW + timedelta(seconds=number)


@st.composite
def lines(draw: st.DrawFn) -> tuple[list[Any], list[tuple[Any, Any]], Axis]:
    work = [tuple(sorted(pair)) for pair in draw(st.lists(st.tuples(seconds, seconds), max_size=6))]
    moments = [at(one) for one in draw(st.lists(seconds, min_size=1, max_size=8))]
    stretches = [(at(start), at(end)) for start, end in work]
    return moments, stretches, axis(moments, stretches)


@given(lines())
def test_it_is_whole_and_in_order(line: tuple[list[Any], list[Any], Axis]) -> None:
    moments, work, found = line
    pieces = found.pieces
    assert (pieces[0].left, pieces[-1].right) == (0.0, 1.0)
    assert all(one.end == other.start and one.right == other.left for one, other in pairwise(pieces))
    known = sorted({*moments, *(end for stretch in work for end in stretch)})
    assert pieces[0].start == known[0] and pieces[-1].end == known[-1]
    places = [found.at(one) for one in known]
    assert all(0.0 <= one <= 1.0 for one in places) and places == sorted(places)


@given(lines())
def test_only_where_nobody_worked_it_is_squeezed(line: tuple[list[Any], list[Any], Axis]) -> None:
    _, work, found = line
    for piece in found.pieces:
        if piece.squeezed:
            assert all(end <= piece.start or start >= piece.end for start, end in work)


@given(lines())
def test_what_is_written_under_it_can_be_read(line: tuple[list[Any], list[Any], Axis]) -> None:
    found = line[2]
    ticks = found.ticks()
    assert ticks and all(0.0 <= place <= 1.0 and found.at(moment) == place for place, moment in ticks)
    assert all(other[0] - one[0] >= APART * 0.999 for one, other in pairwise(ticks))


def test_a_night_between_two_seconds_of_work_does_not_hide_them() -> None:
    found = axis([at(0), at(30_000)], [(at(0), at(1)), (at(29_999), at(30_000))])
    assert [piece.squeezed for piece in found.pieces] == [False, True, False]
    assert found.at(at(1)) > 0.4 and found.at(at(29_999)) < 0.6


def test_a_wait_beside_its_work_stays_to_scale() -> None:
    found = axis([at(0), at(5)], [(at(0), at(1)), (at(4), at(5))])
    assert len(found.pieces) == 1 and abs(found.at(at(1)) - 0.2) < 1e-9


def test_waits_alone_are_to_scale() -> None:
    found = axis([at(0), at(10), at(10_000)], [])
    assert abs(found.at(at(10)) - 0.001) < 1e-9
