"""A worker dies at each commit of sagas with children, loops, gates and groups: another brings them to the same end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.db.models import Q

from saga_app import Branch, Child, ForEach, Milestone, Parallel, Pivot, Saga, Try, Wait, executor, ref
from saga_app.models import Execution, StepRecord
from tests import ledger
from tests.engine.drives import DATABASES
from tests.engine.flows import paths, settled
from tests.faults import lapse
from tests.harness import CANCELLED, DONE, OK, UNWOUND, children, do, end, fail, now
from tests.mortal import Life
from tests.promises import check_promises

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]


def again(name: str, *plan: Any, **options: Any) -> Any:
    """A step that may be begun once more, as one whose worker has died is."""
    return do(name, *plan, comp=OK, attempts=3, comp_attempts=3, **options)


def families(*after: Any) -> Saga[Any]:
    """A child for each of two items, and what follows on it."""
    kid = Saga("kid", again("k", takes="line"))
    each = ForEach("line", lambda: [1, 2], Child(kid).bind(line=ref("line")))
    return Saga("families", again("a"), each, *after)


def gates(*after: Any) -> Saga[Any]:
    """A choice, a gate whose signal is there already, a recovery and a milestone."""
    way = Branch(lambda: "left", left=[Wait("go"), again("b")], right=again("no")).named("way")
    failing = Try(do("t", fail(KeyError), rejected_on=(KeyError,), attempts=2), catch=(KeyError,), recover=[again("r")])
    return Saga("gates", again("a"), Milestone("m"), way, failing, *after)


def groups(*after: Any) -> Saga[Any]:
    """Two branches side by side, one of them a child."""
    kid = Child(Saga("kid", again("k")))
    return Saga("groups", again("a"), Parallel(kid=kid, b=[again("b1"), again("b2")]), *after)


RESTED = ("failed", "rested", "")
broken = do("z", fail(ValueError("no")), rejected_on=(ValueError,), attempts=2)
STORIES: dict[str, tuple[Callable[[], Saga[Any]], tuple[str, str, str]]] = {
    "families": (lambda: families(Pivot(), again("z")), DONE),
    "families undone": (lambda: families(broken), UNWOUND),
    "gates": (lambda: gates(again("z")), DONE),
    "gates undone": (lambda: gates(broken), RESTED),
    "groups": (lambda: groups(again("z")), DONE),
    "groups undone": (lambda: groups(broken), UNWOUND),
}


def told(saga: Saga[Any], life: Life) -> Execution:
    """Driven in that life, and, when it has ended, in another."""
    ledger.clear()
    x = saga.start()
    x.signal("go", 1) if saga.name == "gates" else None
    with life.lived():
        while executor.drive(None, holder="host:1"):
            pass
    lapse()
    return settled(x)


@pytest.mark.parametrize("name", STORIES)
def test_a_worker_dies_at_every_commit(name: str) -> None:
    """Hazard A119. Hazard A120. Hazard A122. Hazard A124. Hazard B50. Hazard B103. It does not show in the end.

    One child for each place; no turn, choice, gate or recovery is taken twice; at most one call is made once more.
    """
    make, ends = STORIES[name]
    saga, whole = make(), Life()
    usual = end(told(saga, whole)), Counter(ledger.order())
    assert usual[0] == ends and len(whole.points) > 10
    wrong = []
    for place, point in enumerate(whole.points):
        x = told(saga, Life(place))
        more = Counter(ledger.order()) - usual[1]
        kids = [one.parent_path for one in children(x)]
        if end(x) != ends or more.total() > 1 or usual[1] - Counter(ledger.order()) or len(kids) != len(set(kids)):
            wrong.append(f"dies at {place} ({point}): {end(x)}, more {dict(more)}, {kids}, {now(x).error}")
    assert not wrong, "\n".join(wrong)
    check_promises()


def test_cancelled_at_every_commit() -> None:
    """Hazard B195. Hazard B204. Between any two writes: all that began is undone, nothing begins."""
    saga, whole = families(again("z")), Life()
    told(saga, whole)
    for place in range(1, len(whole.points), 2):
        ledger.clear()
        x, life = saga.start(), Life(place)
        with life.lived():
            while executor.drive(None, holder="host:1"):
                pass
        if now(x).status == "completed":
            continue
        x.cancel(reason="not wanted")
        begun = set(paths(x))
        lapse()
        x = settled(x)
        assert end(x) in (CANCELLED, ("cancelled", "not_applicable", "")), f"{place}: {end(x)}"
        assert set(paths(x)) == begun, "a child may go on until it is told; its parent begins nothing"
        its = StepRecord.objects.filter(Q(execution=x.pk) | Q(execution__parent=x.pk), kind="step", attempt__gt=0)
        undone = [one for one in ledger.order() if one[0] == "~"]
        assert sorted(undone) == sorted(f"~{one.name}" for one in its)
        check_promises()
