"""A parent and its child in every state: who is told what, when, and who undoes what (design §9.7)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from saga_app import Child, Milestone, Parallel, Pivot, Wait
from tests.core.search import Scenario
from tests.core.search_laws import explored
from tests.core.search_scenarios import kid, made, scenario


def child() -> Scenario:
    """Whatever becomes of both, with two acts of an operator on either."""
    saga = kid(made("k"))
    return scenario(Child(saga), made("b", undo=0), kids=(saga,), undo_k="ok error", cancels=1, presses=2)


def undone_late() -> Scenario:
    """It ended well, and is undone since its parent goes back."""
    saga = kid(made("k"), made("l"))
    return scenario(Child(saga), made("b", undo=0), kids=(saga,), undo_l="ok error", b="error", crashes=1, presses=1)


def pivoted() -> Scenario:
    """It may be past its pivot when its parent wants it back."""
    saga = kid(made("k"), Pivot(), made("l"))
    return scenario(Child(saga), made("b", undo=0), kids=(saga,), cancels=1, presses=2)


def leases() -> Scenario:
    """A worker of either loses its lease."""
    saga = kid(made("k"))
    return scenario(Child(saga), made("b", undo=0), kids=(saga,), undo_k="ok error", cancels=1, lapses=1, presses=1)


def suspended() -> Scenario:
    """Either is suspended: its parent, or its child, waits."""
    saga = kid(made("k"))
    return scenario(Child(saga), made("b", undo=0), kids=(saga,), cancels=1, suspends=1, presses=1, verbs="resume")


def rested() -> Scenario:
    """Where it rests at a milestone, so does its parent."""
    saga = kid(made("k"), Milestone("safe"), made("l"))
    return scenario(made("a"), Child(saga), made("b", undo=0), kids=(saga,), cancels=1, presses=1)


def held() -> Scenario:
    """It stops where it fails: its parent waits, and shows why."""
    saga = kid(made("k"), on_failure="hold")
    return scenario(Child(saga), made("b", undo=0), kids=(saga,), undo_k="ok error", presses=2, cancels=1)


def deadlines() -> Scenario:
    """Its own deadline ends it."""
    saga = kid(made("k"), Wait("gate"), timeout=9)
    return scenario(Child(saga), made("b", undo=0), kids=(saga,), presses=1, cancels=1, crashes=1)


def deadline_above() -> Scenario:
    """Its parent's deadline does: it is asked to go back, and waited for."""
    saga = kid(made("k"), Wait("gate"))
    return scenario(
        Child(saga), made("b", undo=0), options={"timeout": 9}, kids=(saga,), presses=1, cancels=1, crashes=1
    )


def two() -> Scenario:
    """Two children side by side."""
    saga = kid(made("k"))
    return scenario(Parallel(Child(saga), Child(saga).named("other")), made("b", undo=0), kids=(saga,), cancels=1)


def in_a_group() -> Scenario:
    """A branch beside it fails: it is asked to go back before its parent does."""
    saga = kid(made("k"))
    group = Parallel(a=[Child(saga)], b=[made("y")])
    return scenario(made("t"), group, kids=(saga,), cancels=1, presses=2, t="ok", undo_k="ok error")


def beside_what_is_unknown() -> Scenario:
    """An operator may begin the unwind while it is at work: it is not left alone."""
    saga = kid(made("k"))
    group = Parallel(made("x"), b=[Child(saga)])
    return scenario(group, Pivot(), made("t", undo=0), kids=(saga,), t="ok", x="ok timeout", presses=2)


def stumbling() -> Scenario:
    """What it would begin with cannot be made: at first, or ever."""
    saga, stumbles = kid(made("k")), {"kid": "once never"}
    return scenario(made("a"), Child(saga), made("b", undo=0), kids=(saga,), stumbles=stumbles, cancels=1, presses=1)


def opted_out() -> Scenario:
    """It stays where it is, whatever becomes of its parent."""
    saga = kid(made("k"))
    child = Child(saga).named("own", compensate=False)
    return scenario(child, made("b", undo=0), kids=(saga,), cancels=1, presses=2, b="error")


def outrun() -> Scenario:
    """An operator begins the unwind while it is at work, since its parent's time is up: it is waited for."""
    saga = kid(made("k"), Wait("gate", timeout=5))
    child = Child(saga).named("own", compensate=False)
    return scenario(made("a"), child, options={"timeout": 9, "on_failure": "hold"}, kids=(saga,), presses=2, a="ok")


def past_the_pivot() -> Scenario:
    """Its failure stops its parent; a resume has another one born."""
    saga = kid(made("k"))
    return scenario(Pivot(), Child(saga), made("b", undo=0), kids=(saga,), undo_k="ok error", presses=2, cancels=1)


SCENARIOS: list[Callable[[], Scenario]] = [
    child, undone_late, pivoted, leases, suspended, rested, held, deadlines, deadline_above, two, in_a_group,
    beside_what_is_unknown, stumbling, opted_out, outrun, past_the_pivot,
]  # fmt: skip


@pytest.mark.parametrize("made_up", SCENARIOS)
def test_every_state_is_lawful_and_comes_to_rest(made_up: Callable[[], Scenario]) -> None:
    """Design §9.7. One child for each call; no wake is lost; nobody ends before those below, or says what is not so."""
    assert len(explored(made_up()).worlds) > 100
