"""The past of any picture that the tables would take: it is there, it is not from later, and it ends in what is."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from saga_app.core.past import Told, moments, past
from saga_app.core.snapshot import Snapshot
from tests.pictures import HOUR, NOW, pictures, shapes, thorough

CREATED = NOW - 2 * HOUR
when = st.integers(-8000, 8000).map(lambda number: NOW + timedelta(seconds=number))
types = st.sampled_from(
    ["start", "stuck", "resume", "unwinding", "suspended", "cancel", "completed", "failed", "abandon", "lifted", "odd"]
)
said = st.fixed_dictionaries(
    {},
    optional={
        "path": st.sampled_from(["alpha", "beta", "gone"]),
        "reason": st.sampled_from(["step_failed", "unheard of"]),
        "rollback": st.sampled_from(["completed", "unheard of"]),
    },
)
stories = st.lists(st.builds(Told, when, types, said), max_size=5).map(
    lambda some: sorted(some, key=lambda one: one.at)
)


@thorough
@given(shapes().flatmap(pictures), stories, when)
def test_nothing_is_from_later(x: Snapshot, told: list[Told], moment: datetime) -> None:
    known = moments(x, CREATED, told)
    then = past(x, CREATED, told, moment)
    if known[-1] <= moment:
        assert then is x
        return
    assert [one for one in moments(then, CREATED, []) if one > max(moment, CREATED)] == []
    assert {one.path for one in then.records} <= {one.path for one in x.records}


@thorough
@given(shapes().flatmap(pictures), stories, when, when)
def test_what_began_earlier_is_there_later(x: Snapshot, told: list[Told], one: Any, other: Any) -> None:
    earlier, later = (past(x, CREATED, told, moment) for moment in sorted((one, other)))
    assert {record.path for record in earlier.records} <= {record.path for record in later.records}
    assert earlier.pivoted_at in (None, later.pivoted_at) and earlier.unwinding_at in (None, later.unwinding_at)


@thorough
@given(shapes().flatmap(pictures), stories)
def test_at_its_last_moment_it_is_as_it_is(x: Snapshot, told: list[Told]) -> None:
    assert past(x, CREATED, told, moments(x, CREATED, told)[-1]) == x
