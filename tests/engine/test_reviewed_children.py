"""What was found by reading: parents that wait for children that are stuck, and are stuck no more."""

from __future__ import annotations

import pytest

from saga_app import Backoff, Child, GiveUp, Milestone, Parallel, Saga
from tests.engine.drives import DATABASES
from tests.engine.flows import later, settled
from tests.harness import CANCELLED, OK, UNWOUND, do, end, fail, halted, ok, outcomes
from tests.reading import child

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]

LATER = Backoff(first=30, factor=1, max=30, jitter=0)


def test_a_child_that_was_freed_while_its_parent_did_something_else() -> None:
    """It is stuck while a sibling's compensation waits for its next attempt; an operator has it tried again."""
    Saga("kid", do("k", comp=[fail(OSError), ok()]))
    beside = do("s", comp=[fail(OSError), ok()], comp_attempts=2, backoff=LATER)
    x = settled(Saga("p", Parallel(Child("kid"), beside), do("c", fail(GiveUp("no")))).start())
    kid = child(x, "kid")
    assert (end(kid), end(x)) == (halted("compensation_failed"), ("compensating", "", ""))
    kid.resume()
    settled(x)
    assert end(kid) == CANCELLED
    assert end(later(x, 60)) == UNWOUND


def test_two_children_that_are_freed_one_after_the_other() -> None:
    """The parent is stuck at the one; the other, which an operator frees first, need not be freed again."""
    Saga("one", do("k", comp=[fail(OSError), ok()]))
    Saga("two", do("l", comp=[fail(OSError), ok()]))
    x = settled(Saga("p", do("a", comp=OK), Parallel(Child("one"), Child("two")), do("c", fail(GiveUp("no")))).start())
    assert end(x) == halted("child_stuck")
    first = x.failing_path
    for name in sorted(("one", "two"), key=lambda one: one == first):
        child(x, name).resume()
        settled(x)
    assert end(x) == UNWOUND


def test_a_child_that_rests_keeps_what_it_follows_and_not_what_ran_beside() -> None:
    """It comes to its milestone while a compensation in another branch waits for its next attempt: that is made."""
    Saga("kid", do("k1", comp=OK), Milestone("safe"), do("k2", comp=OK))
    beside = do("s", comp=[fail(OSError), ok()], comp_attempts=2, backoff=LATER)
    group = Parallel(beside, kid=[do("t", comp=OK), Child("kid")])
    x = settled(Saga("p", do("a", comp=OK), group, do("c", fail(GiveUp("no")))).start())
    assert end(child(x, "kid")) == ("cancelled", "rested", "")
    assert end(later(x, 60)) == ("failed", "rested", "")
    assert outcomes(x) == {"a": "", "s": "compensated", "t": "", "kid": "compensated"}
