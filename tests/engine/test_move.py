"""Move: what is stuck because of its definition goes on in another revision that what ran fits (design §12)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from saga_app import ForEach, Pivot, Saga, VerbRefused, ref, testing
from saga_app.models import Execution
from tests.engine.drives import DATABASES, drive
from tests.harness import DONE, OK, UNWOUND, do, end, events, fail, fix, halted, held, now, ok, order, outcomes, told
from tests.shared_clock import clock

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]

MISSING, CHANGED = "definition_missing", "definition_changed"
WHY = {"reason": "revision 1 is gone"}


@contextmanager
def deployed(*sagas: Callable[[], Saga[Any]]) -> Iterator[None]:
    """Other code: only these sagas are known."""
    with testing.isolate_sagas():
        for each in sagas:
            each()
        yield


def stuck_without(x: Execution) -> Execution:
    """Driven by code that does not know its saga, until that is given up."""
    clock.set(clock.now())
    with deployed():
        drive(x)
        clock.forward(timedelta(hours=1))
        drive(x)
    assert now(x).stuck_reason == MISSING
    return now(x)


def halfway() -> Execution:
    """Two steps have run; the third waits for its next attempt."""
    x = Saga("s", do("a", ok("A"), comp=OK), do("b", comp=OK), do("c", fail(OSError), ok()), on_failure="hold").start()
    assert end(drive(x)) == held("step_failed")
    x.resume()
    return x


def second(*nodes: Any) -> Callable[[], Saga[Any]]:
    return lambda: Saga("s", *nodes, revision=2)


def test_it_goes_on_where_it_was() -> None:
    x = stuck_without(halfway())
    with deployed(second(do("a", comp=OK), do("b", comp=OK), do("c"), do("d", takes="a"))):
        moved = x.move(2, version=x.version, **WHY)
        assert (moved.revision, moved.status, moved.stuck_reason) == (2, "running", "")
        assert moved.fingerprint != x.fingerprint
        assert end(drive(x)) == DONE
    assert order() == ["a", "b", "c", "c", "d"]


def test_who_why_and_from_where_is_kept() -> None:
    x = stuck_without(halfway())
    with deployed(second(do("a", comp=OK), do("b", comp=OK), do("c"))):
        x.move(2, **WHY)
    (moved,) = events(x, "move")
    assert (moved.reason, moved.data) == ("revision 1 is gone", {"from": 1, "to": 2})
    assert now(x).resume_count == 1, "a move is no resume"


def test_it_may_be_its_own_revision_as_it_is_now() -> None:
    x = halfway()
    with deployed(lambda: Saga("s", do("z"), do("a"), do("b"))):
        assert end(drive(x)) == held(CHANGED)
        assert told(x.move, 1, **WHY) == "does_not_fit"
    with deployed(lambda: Saga("s", do("a", comp=OK), do("b", comp=OK), do("c"), do("new"))):
        x.move(1, **WHY)
        assert end(drive(x)) == DONE


@pytest.mark.parametrize(
    "nodes",
    [
        lambda: [do("a", comp=OK), do("c")],
        lambda: [do("a", comp=OK), do("new"), do("b", comp=OK), do("c")],
        lambda: [do("b", comp=OK), do("a", comp=OK), do("c")],
        lambda: [do("a", comp=OK), do("b"), do("c")],
        lambda: [do("a", comp=OK), Pivot(), do("b", comp=OK), do("c")],
    ],
    ids=["removed", "inserted", "swapped", "no compensation any more", "a pivot that was not passed"],
)
def test_what_ran_must_fit(nodes: Callable[[], list[Any]]) -> None:
    """Nothing changes where it does not: neither its revision nor its version."""
    x = stuck_without(halfway())
    with deployed(second(*nodes())):
        assert told(x.move, 2, **WHY) == "does_not_fit"
    assert (now(x).revision, now(x).version, end(x)) == (1, x.version, held(MISSING))


def test_refusals() -> None:
    x = stuck_without(halfway())
    with deployed(second(do("a", comp=OK), do("b", comp=OK), do("c"))):
        assert told(x.move, 3, **WHY) == "unknown_revision"
        assert told(x.move, 1, **WHY) == "unknown_revision"
        with pytest.raises(VerbRefused, match="It knows: 2"):
            x.move(3, **WHY)
        assert told(x.move, 2) == told(x.move, 2, reason=" ") == "reason_required"
        assert told(x.move, 2, version=x.version - 1, **WHY) == "version_changed"
        x.move(2, **WHY)
        assert told(x.move, 2, **WHY) == "not_stuck"
        assert end(drive(x)) == DONE
        assert told(x.move, 2, **WHY) == "terminal"


def test_only_for_what_is_stuck_because_of_its_definition() -> None:
    x = Saga("s", do("a", fail(OSError)), on_failure="hold").start()
    assert end(drive(x)) == held("step_failed")
    assert told(x.move, 1, **WHY) == "definition_not_at_fault"


def unwinding() -> Execution:
    """On its way back, with two more to compensate."""
    nodes = do("a", comp=OK), do("b", comp=OK), do("c", comp=[fail(OSError), ok()]), do("d", fail(OSError))
    x = Saga("s", *nodes).start()
    assert end(drive(x)) == halted("compensation_failed")
    x.resume()
    return x


def test_backwards_it_needs_the_compensations_that_are_owed() -> None:
    """Whatever else the new revision is: on the way back only those count."""
    x = stuck_without(unwinding())
    fix("~c", ok())
    with deployed(second(do("a", comp=OK), do("c", comp=OK))):
        assert told(x.move, 2, **WHY) == "does_not_fit"
    with deployed(second(do("z"), do("c", comp=OK), do("b", comp=OK), do("a", comp=OK))):
        moved = x.move(2, **WHY)
        assert (moved.status, moved.rollback_status) == ("compensating", "")
        assert end(drive(x)) == UNWOUND
    assert outcomes(x) == {"a": "compensated", "b": "compensated", "c": "compensated"}
    assert order()[-3:] == ["~c", "~b", "~a"]


def test_past_the_pivot_nothing_is_owed() -> None:
    x = Saga("s", do("a", comp=OK), Pivot(), do("b", fail(OSError), ok())).start()
    assert end(drive(x)) == held("failed_past_pivot")
    x.resume()
    x = stuck_without(x)
    with deployed(second(do("a"), Pivot(), do("b"), do("c"))):
        x.move(2, **WHY)
        assert end(drive(x)) == DONE


def test_in_the_middle_of_a_loop() -> None:
    def loop(*more: Any) -> ForEach:
        return ForEach("line", ref("input.lines"), do("pick", takes="line"), *more)

    failing = do("pack", fail(OSError), ok(), takes="line")
    x = Saga("s", loop(failing), on_failure="hold").start(lines=["A", "B"])
    assert end(drive(x)) == held("step_failed")
    x.resume()
    x = stuck_without(x)
    with deployed(second(loop(do("weigh"), do("pack", takes="line")))):
        assert told(x.move, 2, **WHY) == "does_not_fit"
    with deployed(second(loop(do("pack", takes="line"), do("weigh")), do("ship"))):
        x.move(2, **WHY)
        assert end(drive(x)) == DONE
    assert order() == ["pick", "pack", "pack", "weigh", "pick", "pack", "weigh", "ship"]
