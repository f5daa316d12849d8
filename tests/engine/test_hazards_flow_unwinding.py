"""Hazards of parents that turn back: whatever state a child is in, it is undone once, waited for, or stops them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from saga_app import Backoff, Child, Milestone, Parallel, Pivot, Saga, Wait, ref
from saga_app.models import Execution
from tests.engine.drives import DATABASES
from tests.engine.flows import run, settled
from tests.harness import (
    CANCELLED,
    DONE,
    NOTHING_OWED,
    OK,
    UNWOUND,
    calls,
    child,
    do,
    end,
    fail,
    fix,
    halted,
    held,
    now,
    ok,
    order,
    outcomes,
    rec,
)

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]

IN_AN_HOUR = Backoff(first=3600, max=3600, jitter=0)
RESTED = ("failed", "rested", "")
K1 = lambda: do("k1", comp=OK)  # noqa: E731


def stuck_back() -> Any:
    return do("k2", comp=[fail(OSError), ok()])


#: What a child's saga is → how the child has ended or stands when nobody has turned back yet.
KIDS: dict[str, tuple[Callable[[], list[Any]], dict[str, Any], tuple[str, str, str]]] = {
    "completed": (lambda: [K1(), do("k2", comp=OK)], {}, DONE),
    "nothing to undo": (lambda: [do("k1")], {}, DONE),
    "past its pivot": (lambda: [K1(), Pivot(), do("k2")], {}, DONE),
    "with a milestone": (lambda: [K1(), Milestone("safe"), do("k2", comp=OK)], {}, DONE),
    "at a gate": (lambda: [K1(), Wait("go"), do("k2", comp=OK)], {}, ("waiting", "", "")),
    "in backoff": (lambda: [K1(), do("k2", fail(OSError), attempts=2, backoff=IN_AN_HOUR)], {}, ("waiting", "", "")),
    "held": (lambda: [K1(), do("k2", fail(OSError))], {"on_failure": "hold"}, held("step_failed")),
    "failed past its pivot": (lambda: [K1(), Pivot(), do("k2", fail(OSError))], {}, held("failed_past_pivot")),
    "at a gate past its pivot": (lambda: [K1(), Pivot(), Wait("go")], {}, ("waiting", "", "")),
    "halted": (lambda: [K1(), stuck_back(), do("k3", fail(OSError))], {}, halted("compensation_failed")),
}


def turned_back(which: str, cause: str, **options: Any) -> Execution:
    """A parent with a child in that state, whose other branch fails or which is cancelled, as far as it comes."""
    nodes, saga_options, stands = KIDS[which]
    kid = Child(Saga("kid", *nodes(), **saga_options)).named(**options)
    turn = [Wait("turn"), do("c", fail(ValueError), comp=OK)]
    x = run(Saga("p", do("a", comp=OK), Parallel(kid=kid, turn=turn)))
    assert end(child(x, "kid")) == stands
    if cause == "cancel":
        x.cancel(reason="not wanted")
    else:
        x.signal("turn")
    return settled(x)


CAUSES = pytest.mark.parametrize(("cause", "ends"), [("failure", UNWOUND), ("cancel", CANCELLED)])


@CAUSES
def test_a_completed_child_is_undone_by_its_own_unwind(cause: str, ends: Any) -> None:
    """Hazard A113. Hazard B178. Hazard A125. In its place, before its parent's earlier steps; its output stays."""
    kid = Saga("kid", do("k1", comp=OK), do("k2", ok("done"), comp=OK), output=ref("k2"))
    x = run(Saga("p", do("a", comp=OK), Child(kid), do("b", comp=OK), Wait("turn"), do("c", fail(ValueError))))
    x.cancel() if cause == "cancel" else x.signal("turn")
    x = settled(x)
    kid = child(x, "kid")
    assert end(x) == ends and outcomes(x) == {"a": "compensated", "kid": "compensated", "b": "compensated"}
    assert [name for name in order() if name[0] == "~"] == ["~b", "~k2", "~k1", "~a"]
    assert (end(kid), kid.unwind_cause, kid.output) == (CANCELLED, "parent", "done")


@CAUSES
def test_a_child_with_nothing_to_undo_is_left_alone(cause: str, ends: Any) -> None:
    """Hazard B184. It stays completed, with its output, and is not counted among what was undone."""
    x = turned_back("nothing to undo", cause)
    assert end(x) == ends and end(child(x, "kid")) == DONE and "kid" not in outcomes(x)
    alone = run(Saga("q", Child(Saga("idle", do("k"))), do("c", fail(OSError))))
    assert end(alone) == NOTHING_OWED and end(child(alone, "idle")) == DONE


@CAUSES
@pytest.mark.parametrize("which", ["at a gate", "in backoff", "held"])
def test_a_live_child_is_cancelled_and_waited_for(cause: str, ends: Any, which: str) -> None:
    """Hazard A115. Hazard B168. Hazard B195. Before anything of its parent's is undone; and it never completes then."""
    x = turned_back(which, cause)
    kid = child(x, "kid")
    assert end(x) == ends and end(kid) == CANCELLED and kid.unwind_cause == "cancel"
    assert "p goes back" in kid.cancel_reason and ("not wanted" in kid.cancel_reason) == (cause == "cancel")
    assert order().index("~k1") < order().index("~a") and rec(x, "kid").status == "failed"
    assert "kid" not in outcomes(x)  # it has undone itself


@CAUSES
def test_a_child_past_its_pivot_stops_its_parent(cause: str, ends: Any) -> None:
    """Hazard A116. Hazard R12. It is never said to be undone; an operator accepts it, and the rest goes on."""
    x = turned_back("past its pivot", cause)
    assert end(x) == halted("child_stuck") and "is past its pivot" in (rec(x, "kid").compensation_error.text)
    x.resume(reason="again")
    assert end(settled(x)) == halted("child_stuck")
    x.resolve("kid", reason="the customer keeps it")
    x = settled(x)
    assert end(x) == ends and outcomes(x)["kid"] == "resolved" and outcomes(x)["a"] == "compensated"
    assert end(child(x, "kid")) == DONE and calls("~k1") == 0


@CAUSES
def test_a_rested_child_rests_its_parent(cause: str, ends: Any) -> None:
    """Hazard B182. The parent goes back no further than its child did, and names the same point."""
    x = turned_back("with a milestone", cause)
    assert (end(x), x.rested_at) == ((ends[0], "rested", ""), "safe")
    assert outcomes(x)["a"] == "" and end(child(x, "kid")) == ("cancelled", "rested", "") and calls("~k1") == 0


def test_a_child_that_has_rested_by_itself() -> None:
    """Hazard B182. It failed and went back to its milestone: its parent goes back no further either."""
    kid = Saga("kid", do("k1", comp=OK), Milestone("safe"), do("k2", comp=OK), do("k3", fail(OSError)))
    x = run(Saga("p", do("a", comp=OK), Child(kid), do("b", comp=OK)))
    assert (end(x), x.rested_at, end(child(x, "kid"))) == (("failed", "rested", ""), "safe", ("failed", "rested", ""))
    assert order() == ["a", "k1", "k2", "k3", "~k2"]


@CAUSES
def test_a_live_child_past_its_pivot_is_waited_for(cause: str, ends: Any) -> None:
    """Hazard A115. It cannot be cancelled; it goes on, and what became of it is an operator's to judge."""
    x = turned_back("at a gate past its pivot", cause)
    kid = child(x, "kid")
    assert now(x).status == "waiting" and not kid.cancel_requested_at
    assert calls("~a") == 0
    kid.signal("go")
    x = settled(x)
    assert end(x) == halted("child_stuck") and end(child(x, "kid")) == DONE
    x.resolve("kid", reason="it is well as it is")
    assert end(settled(x)) == ends


@CAUSES
@pytest.mark.parametrize("act", ["resume", "abandon"])
def test_a_child_stuck_past_its_pivot(cause: str, ends: Any, act: str) -> None:
    """Hazard A116. Hazard A80. Whether it is helped to its end or given up, nobody says that it was undone."""
    x = turned_back("failed past its pivot", cause)
    kid = child(x, "kid")
    assert end(x) == held("child_stuck") and calls("~a") == 0
    fix("k2", ok())
    kid.resume() if act == "resume" else kid.abandon(reason="it will not work")
    x = settled(x)
    assert end(x) == halted("child_stuck") and end(child(x, "kid"))[0] == ("completed" if act == "resume" else "failed")
    x.resolve("kid", reason="by hand")
    x = settled(x)
    assert end(x) == ends and outcomes(x)["kid"] == "resolved" and calls("~k1") == 0


@CAUSES
@pytest.mark.parametrize("act", ["resume", "abandon"])
def test_a_child_whose_unwind_halted_before_its_parent_turned_back(cause: str, ends: Any, act: str) -> None:
    """Hazard B181. Hazard A76. Its parent stops with it, and goes on with it; an abandoned one stays so."""
    x = turned_back("halted", cause)
    kid = child(x, "kid")
    assert end(x) == held("child_stuck") and calls("~a") == calls("~k1") == 0
    kid.resume() if act == "resume" else kid.abandon(reason="half is half")
    x = settled(x)
    if act == "abandon":
        assert end(x) == halted("child_stuck") and end(child(x, "kid")) == ("failed", "abandoned", "")
        x.resume(reason="again")
        assert end(settled(x)) == halted("child_stuck") and calls("~k1") == 0
        x.resolve("kid", reason="by hand")
        x = settled(x)
    assert end(x) == ends and outcomes(x).get("kid", "") == ("" if act == "resume" else "resolved")
    assert calls("~k1") == (act == "resume") and calls("~a") == 1


@CAUSES
def test_a_child_that_halts_while_its_parent_undoes_it(cause: str, ends: Any) -> None:
    """Hazard B181. Hazard B185. Hazard A118. Its trouble is no failure of its parent's step, and ends with it."""
    kid = Saga("kid", do("k1", comp=OK), do("k2", comp=[fail(OSError), ok()]))
    x = run(Saga("p", do("a", comp=OK), Child(kid), Wait("turn"), do("c", fail(ValueError))))
    x.cancel() if cause == "cancel" else x.signal("turn")
    x = settled(x)
    assert end(x) == halted("child_stuck") and rec(x, "kid").status == "completed"
    assert end(child(x, "kid")) == halted("compensation_failed") and calls("~k1") == calls("~a") == 0
    child(x, "kid").resume(reason="it is back")
    x = settled(x)
    assert end(x) == ends and end(child(x, "kid")) == CANCELLED and outcomes(x)["kid"] == "compensated"
    assert [name for name in order() if name[0] == "~"] == ["~k2", "~k2", "~k1", "~a"]


@CAUSES
@pytest.mark.parametrize("which", list(KIDS))
def test_kept_in_this_place(cause: str, ends: Any, which: str) -> None:
    """Hazard B180. With compensate=False what has ended stays as it is; what still goes on is stopped all the same."""
    x = turned_back(which, cause, compensate=False)
    kid = child(x, "kid")
    if which in ("completed", "nothing to undo", "past its pivot", "with a milestone"):
        assert end(x) == ends and end(kid) == DONE and "~k1" not in order()
    elif which in ("at a gate", "in backoff", "held"):
        assert end(x) == ends and end(kid) == CANCELLED and calls("~k1") == 1
    else:
        kid.signal("go") if "gate" in which else kid.abandon(reason="let it be")
        x = settled(x)
        assert end(x) == ends and calls("~k1") == 0 and "kid" not in outcomes(x)
