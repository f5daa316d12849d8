"""Hazards of milestones: an unwind comes back to the latest one that was passed, and no further."""

from __future__ import annotations

from typing import Any

import pytest

from saga_app import Milestone, Repeat, Saga, Wait
from tests.engine.drives import DATABASES
from tests.engine.flows import paths, run, settled
from tests.harness import DONE, OK, UNWOUND, calls, do, end, fail, halted, now, ok, order, outcomes, per

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]

RESTED = ("failed", "rested", "")


def test_what_is_before_it_stays() -> None:
    """Hazard B169. Only what came after it is undone; where it rests is recorded."""
    x = run(Saga("s", do("a", comp=OK), Milestone("m"), do("b", comp=OK), do("c", fail(OSError), comp=OK)))
    assert (end(x), now(x).rested_at) == (RESTED, "m")
    assert outcomes(x) == {"a": "", "b": "compensated", "c": "compensated"} and order()[-2:] == ["~c", "~b"]


def test_the_latest_one_counts() -> None:
    """Hazard B170. Hazard B174. Of several, the last that was passed, by the order in which they were."""
    x = run(Saga("s", do("a", comp=OK), Milestone("m1"), do("b", comp=OK), Milestone("m2"), do("c", fail(OSError))))
    assert (end(x), now(x).rested_at, order()) == (RESTED, "m2", ["a", "b", "c"])
    x = run(Saga("t", do("a", comp=OK), Milestone("m1"), do("b", fail(OSError), comp=OK), Milestone("m2")))
    assert (end(x), now(x).rested_at, order()[-1]) == (RESTED, "m1", "~b")


def test_it_fails_right_behind_it() -> None:
    """Hazard B171. Nothing is left to undo: it rests there at once."""
    x = run(Saga("s", do("a", comp=OK), Milestone("m"), do("b", fail(OSError))))
    assert (end(x), now(x).rested_at, outcomes(x)) == (RESTED, "m", {"a": ""})


def test_it_succeeds() -> None:
    """Hazard B172. A milestone that nothing came back to changes neither the end nor the result."""
    x = run(Saga("s", do("a", ok("out"), comp=OK), Milestone("m"), output=None))
    assert (end(x), now(x).rested_at) == (DONE, "")


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_in_a_loop_each_turn_has_its_own(failing: int) -> None:
    """Hazard B173. It rests at that of the last whole turn; what is reported is its name, and its path has the turn."""
    renew: Any = do("renew", per("iteration", {failing: [fail(OSError)]}), comp=OK, takes="iteration")
    loop = Repeat(renew, Milestone("renewed"), until=lambda iteration: iteration == 2).named("month")
    x = run(Saga("s", do("a", comp=OK), loop))
    assert paths(x, "milestone") == [f"month[{turn}]/renewed" for turn in range(failing)]
    assert (end(x), now(x).rested_at) == ((RESTED, "renewed") if failing else (UNWOUND, ""))
    assert calls("~renew") == 1 and calls("~a") == (failing == 0)


def test_a_cancel_rests_there_too() -> None:
    """Hazard B169. A compensation behind it that fails halts; abandoned, what is before it is not touched."""
    x = run(Saga("s", do("a", comp=OK), Milestone("m"), do("b", comp=[fail(OSError)]), Wait("go")))
    x.cancel()
    x = settled(x)
    assert end(x) == halted("compensation_failed") and outcomes(x) == {"a": "", "b": "failed"}
    x.resolve("b", reason="by hand")
    x = settled(x)
    assert (end(x), x.rested_at) == (("cancelled", "rested", ""), "m") and calls("~a") == 0
