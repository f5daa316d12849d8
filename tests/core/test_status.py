"""The table of legal moves: whole, closed, and the one picture of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_app.core.status import (
    MOVES,
    OPEN,
    OUTCOMES,
    SETTLED,
    STOPPED,
    TERMINAL,
    IllegalMove,
    Status,
    check_move,
    picture,
)
from saga_app.models import execution

statuses = st.sampled_from(Status)


def test_every_status_has_its_moves() -> None:
    """Each status is in the table; what has ended has no way on but its parent's unwind, all else has one to an end."""
    assert set(MOVES) == set(Status)
    assert {status: MOVES[status] for status in TERMINAL if MOVES[status]} == {
        Status.COMPLETED: frozenset({Status.COMPENSATING})
    }
    for status in OPEN:
        reached, todo = {status}, [status]
        while todo:
            more = MOVES[todo.pop()] - reached
            reached |= more
            todo += more
        assert reached & TERMINAL


def test_the_sets_are_what_they_say() -> None:
    """Terminal and open are all there is; what is stopped is not due; `failed` is an outcome, and not a settled one."""
    assert set(Status) == TERMINAL | OPEN and not TERMINAL & OPEN
    assert TERMINAL < STOPPED and {Status.STUCK, Status.SUSPENDED} == STOPPED - TERMINAL
    assert {str(one) for one in OUTCOMES - SETTLED} == {"failed"}


def test_the_constraints_of_the_table_know_the_same_sets() -> None:
    """What the database refuses is what the rules say."""
    assert (set(execution.STOPPED), set(execution.TERMINAL)) == (STOPPED, TERMINAL)


@given(old=statuses, new=statuses)
def test_only_moves_of_the_table_are_made(old: Status, new: Status) -> None:
    """To stay is always allowed; else the table says."""
    if old == new or new in MOVES[old]:
        check_move(old, new)
    else:
        with pytest.raises(IllegalMove, match=f"from {old} to {new}"):
            check_move(old, new)


def test_nothing_goes_back_to_pending() -> None:
    """It has begun once and for all; and what goes back does not go forward again."""
    assert all(Status.PENDING not in news for news in MOVES.values())
    assert not MOVES[Status.COMPENSATING] & {Status.RUNNING, Status.WAITING, Status.COMPLETED}


def test_the_picture_is_the_table() -> None:
    """Every move is in the picture, and no other: what leaves the box leaves each status in it."""
    text = picture()
    arrows = {tuple(line.strip().split(" --> ")) for line in text.splitlines() if "-->" in line}
    box = {str(status) for status in Status if f"        {status} -->" in text or f"{status}\n    }}" in text}
    assert box == {"pending", "running", "waiting"}
    moves = {(each, new) for old, new in arrows for each in (box if old == "forward" else {old})}
    ends = {(str(status), "[*]") for status in TERMINAL} | {("[*]", "pending")}
    assert moves == {(str(old), str(new)) for old, news in MOVES.items() for new in news} | ends
