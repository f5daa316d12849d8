"""What each verb does, what it leaves alone, and how somebody waits for the end (design §12)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from saga_app import KeyConflict, Pivot, Saga, UnknownSaga, testing
from saga_app.core.errors import InputError
from saga_app.models import Execution
from tests.engine.drives import DATABASES, dies, drive, killed
from tests.engine.standing import (
    LATER,
    STATES,
    begun,
    compensating,
    pending,
    stuck_backwards,
    stuck_forward,
    stuck_past_the_pivot,
    waiting,
)
from tests.harness import (
    DONE,
    OK,
    UNWOUND,
    calls,
    do,
    end,
    events,
    fail,
    halted,
    held,
    now,
    ok,
    order,
    outcomes,
    rec,
    seen,
    told,
)
from tests.shared_clock import clock

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]


@pytest.mark.parametrize("make", [stuck_forward, stuck_past_the_pivot])
def test_resume_tries_again_with_more_attempts(make: Callable[[], Execution]) -> None:
    """It runs again, the old stop is not shown any more; numbers only grow, what ran is not called again.

    Hazard B141.
    """
    x = make()
    x.resume(reason="mended")
    row = now(x)
    assert (row.status, row.stuck_reason, row.error, row.failing_path) == ("running", "", None, "")
    assert end(drive(x)) == DONE
    record = rec(x, "b")
    assert (record.attempt, record.attempt_limit, calls("a"), now(x).resume_count) == (2, 2, 1, 1)
    assert record.error is None and record.attempts[0]["error"] == "OSError"


def test_resume_keeps_the_direction() -> None:
    """Backwards it goes on; what succeeded is not run again, why it failed stays.

    Hazard A77. Hazard A78.
    """
    x = stuck_backwards()
    assert end(x) == halted("compensation_failed")
    x.resume(reason="the provider is up")
    assert rec(x, "b").compensation_error.type == "OSError"
    assert end(drive(x)) == UNWOUND
    assert order() == ["a", "b", "c", "~b", "~b", "~a"]
    assert now(x).error.type == "ValueError" and now(x).failing_path == "c"


def test_resume_from_suspended_only_goes_on() -> None:
    """Hazard B118. A step that waits for its next attempt goes on waiting, and has no more attempts than before."""
    clock.set(clock.now())
    x = waiting()
    due = rec(x, "b").due_at
    x.suspend()
    assert drive(x).status == "suspended" and now(x).due_at is None
    x.resume()
    assert drive(x).status == "waiting"
    assert (rec(x, "b").due_at, rec(x, "b").attempt_limit, now(x).due_at) == (due, 2, due)
    clock.set(due)
    assert end(drive(x)) == DONE


@pytest.mark.parametrize(("make", "ended"), [(waiting, DONE), (compensating, UNWOUND)])
def test_resume_ends_a_wait(make: Callable[[], Execution], ended: tuple[str, str, str]) -> None:
    """What waits for its next attempt is tried at once, in either direction, without any more attempts."""
    x = make()
    assert drive(x).due_at is not None
    x.resume(reason="do not wait")
    assert end(drive(x)) == ended


def test_skip_says_what_happened() -> None:
    """Completed with an output, and owed; or it did nothing, and is not owed. It goes on behind the step."""

    def stuck() -> Execution:
        b = do("b", fail(OSError), comp=OK, needs_result=True)
        return begun(do("a", comp=OK), b, do("c", fail(OSError), attempts=1), on_failure="hold")

    x = stuck()
    x.skip("b", happened=True, output={"charge": 7}, reason="it is on the statement")
    assert end(drive(x)) == held("step_failed") and rec(x, "b").status == "completed"
    x.unwind(reason="let it be")
    assert end(drive(x)) == UNWOUND and seen("~b")[0]["result"] == {"charge": 7}
    y = stuck()
    y.skip("b", happened=False, output="ignored", reason="it is not")
    drive(y)
    y.unwind(reason="let it be")
    assert end(drive(y)) == UNWOUND
    assert (rec(y, "b").status, rec(y, "b").output, outcomes(y)) == ("skipped", None, {"a": "compensated", "b": ""})


def test_resolve_goes_on_with_the_rest() -> None:
    """Done by hand is an outcome of its own; the rollback ends completed."""
    x = stuck_backwards()
    x.resolve("b", reason="refunded at the counter")
    assert end(drive(x)) == UNWOUND
    assert outcomes(x) == {"a": "compensated", "b": "resolved"} and calls("~b") == 1


@pytest.mark.parametrize("make", [stuck_backwards, stuck_forward, stuck_past_the_pivot])
def test_abandon_is_final(make: Callable[[], Execution]) -> None:
    """What is owed and has no outcome is abandoned, a failed one stays failed; past the pivot nothing was owed."""
    x = make()
    x.abandon(reason="written off")
    past = make is stuck_past_the_pivot
    assert end(x) == ("failed", "not_applicable" if past else "abandoned", "")
    assert (
        outcomes(x)
        == {
            stuck_backwards: {"a": "abandoned", "b": "failed"},
            stuck_forward: {"a": "abandoned"},
            stuck_past_the_pivot: {"a": ""},
        }[make]
    )
    assert not drive(x).due_at and not [name for name in order() if name == "~a"]
    assert told(x.resume) == "terminal"
    assert now(x).error.type == ("ValueError" if make is stuck_backwards else "OSError")


def test_abandon_after_a_cancel_ends_cancelled() -> None:
    """Design §12. A cancel that was accepted is kept: the end says so."""
    x = begun(do("a", comp=[fail(OSError)]), do("b", fail(OSError)), on_failure="hold")
    x.cancel(reason="not wanted")
    assert end(drive(x)) == halted("compensation_failed")
    x.abandon(reason="written off")
    assert end(x) == ("cancelled", "abandoned", "")


def test_unwind_goes_back() -> None:
    """Held before the pivot, an operator may send it back."""
    x = stuck_forward()
    x.unwind(reason="no")
    assert now(x).status == "compensating" and now(x).error.type == "OSError"
    assert end(drive(x)) == UNWOUND


def test_cancel_and_suspend_at_the_next_boundary() -> None:
    """Before anything ran there is nothing to undo. A suspend that comes first is lifted by the cancel."""
    x = pending()
    x.suspend(reason="wait")
    assert drive(x).status == "suspended" and order() == []
    x.cancel(reason="not wanted")
    assert end(drive(x)) == ("cancelled", "not_applicable", "")
    assert now(x).cancel_reason == "not wanted" and order() == []


def test_suspended_on_the_way_back() -> None:
    """An unwind can be paused too, and keeps its direction."""
    x = compensating()
    x.suspend()
    assert drive(x).status == "suspended"
    x.resume()
    assert drive(x).status == "compensating"


def test_rerun_is_a_new_execution() -> None:
    """Same input, highest revision, both histories say so; nothing of the old one changes but its history."""
    saga = Saga("s", do("a", takes="v"), do("b", fail(OSError)))
    x = drive(saga.start(v=[1, {"x": None}], key="k"))
    version, before = x.version, end(x)
    Saga("s", do("a", takes="v"), revision=2)
    y = x.rerun(reason="again", key="k2")
    assert (y.revision, y.input, y.key, y.is_new) == (2, x.input, "k2", True)
    assert events(x, "rerun")[0].data == {"execution": str(y.pk)}
    assert events(y, "start")[0].data == {"rerun_of": str(x.pk)}
    assert (now(x).version, end(x)) == (version, before)
    with pytest.raises(KeyConflict):
        x.rerun(key="k2")
    with pytest.raises(InputError):
        x.rerun(key="")
    with testing.isolate_sagas(), pytest.raises(UnknownSaga):
        x.rerun()
    assert Execution.objects.count() == 2
    assert end(drive(y)) == DONE


def test_a_worker_lost_three_times_is_an_operators() -> None:
    """Design §7.3. Hazard B87, Hazard B226. The count is on the row, whoever claims; resume begins it anew."""
    x = Saga("s", do("a", dies(), dies(), dies(), ok(), attempts=9)).start()
    for count in (1, 2, 3):
        assert killed(x).deaths == count
    assert end(drive(x)) == held("worker_lost")
    x.resume(reason="more memory")
    assert (end(drive(x)), calls("a"), now(x).deaths) == (DONE, 4, 0)


def test_waiting_for_the_end() -> None:
    """It ends for every end, and for what is stuck; else after the timeout.

    Hazard B205. Hazard B84.
    """
    for state in ("completed", "failed", "cancelled", "stuck_forward", "stuck_backwards"):
        x = STATES[state]()
        assert x.wait(timeout=60).status == end(x)[0]
    x = pending()
    assert x.wait(timeout=0).status == "pending"


def test_waiting_costs_less_the_longer_it_takes() -> None:
    """Hazard B83, Hazard B84. Its pauses grow, by the clock of the tests if that is in force."""
    x = pending()
    clock.set(clock.now())
    with CaptureQueriesContext(connection) as asked:
        assert x.wait(timeout=60).status == "pending"
    assert clock.now() >= x.created_at
    assert 100 < len(asked) < 150, "half a second at most: 120 times a minute, and a few more at first"


def test_what_is_stuck_past_the_pivot_is_skipped_or_retried() -> None:
    """Past the pivot there are two ways forward, and none back."""
    x = begun(
        do("a", comp=OK), Pivot(), do("b", fail(OSError)), do("c", fail(OSError), ok(), attempts=2, backoff=LATER)
    )
    x.skip("b", happened=False, reason="not needed")
    assert drive(x).status == "waiting"
    x.resume()
    assert end(drive(x)) == DONE
    assert (rec(x, "b").status, rec(x, "b").error, rec(x, "b").attempts[0]["error"]) == ("skipped", None, "OSError")
