"""Families that are deep, and families that are large: all of one goes forward, turns back and stops together."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import pytest

from saga_app import Child, ForEach, Saga, Wait, ref
from saga_app.models import Execution
from tests import ledger
from tests.engine.drives import DATABASES
from tests.engine.flows import run, settled
from tests.harness import CANCELLED, DONE, OK, UNWOUND, calls, do, end, fail, halted, now, ok, order, rec

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]

DEEP = 20


def chain(*bottom: Any, top: Any = ()) -> Saga[Any]:
    """So many executions, each the child of the next one: n0 at the bottom, and n20 above all."""
    saga = Saga("n0", *bottom)
    for number in range(1, DEEP + 1):
        saga = Saga(f"n{number}", do(f"s{number}", comp=OK), Child(saga), *(top if number == DEEP else ()))
    return saga


def each(but: str) -> dict[str, tuple[str, str, str]]:
    """Saga → how the one of it stands, of all but that one."""
    return {one.saga: end(one) for one in Execution.objects.exclude(saga=but)}


def test_a_deep_family_is_undone() -> None:
    """Hazard B178. Hazard A113. From the top down, and each level after what is below it."""
    x = run(chain(do("k", comp=OK), top=[do("z", fail(ValueError))]))
    assert end(x) == UNWOUND and set(each("n20").values()) == {CANCELLED}
    back = [one for one in order() if one[0] == "~"]
    assert back == ["~k", *[f"~s{number}" for number in range(1, DEEP + 1)]]


def test_a_deep_family_is_cancelled() -> None:
    """Hazard B195. The request goes down level by level; then each is undone, children first."""
    x = run(chain(do("k", comp=OK), Wait("go")))
    x.cancel(reason="not wanted")
    assert end(settled(x)) == CANCELLED and set(each("n20").values()) == {CANCELLED}
    assert [one for one in order() if one[0] == "~"] == ["~k", *[f"~s{number}" for number in range(1, DEEP + 1)]]
    assert all("not wanted" in one.cancel_reason for one in Execution.objects.all())


def test_a_deep_family_is_stuck_and_lifted() -> None:
    """Hazard B181. Hazard A118. Who is stuck at the bottom stops all above it, and one resume lifts them all."""
    x = run(chain(do("k", comp=[fail(OSError), ok()]), top=[do("z", fail(ValueError))]))
    assert end(x) == halted("child_stuck") and each("n0") == {
        f"n{n}": halted("child_stuck") for n in range(1, DEEP + 1)
    }
    Execution.objects.get(saga="n0").resume(reason="it is back")
    assert end(settled(x)) == UNWOUND and set(each("n20").values()) == {CANCELLED} and calls("~k") == 2


def test_why_the_deepest_failed() -> None:
    """Hazard R21. The execution at the top says it, in the words of the one at the bottom."""
    x = run(chain(do("k", fail(ValueError("no room at the inn")))))
    assert end(x) == UNWOUND and "no room at the inn" in now(x).error.message


@pytest.mark.timeout(900)
@pytest.mark.parametrize("many", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_many_children_of_one_parent(many: int, record_property: Any) -> None:
    """Hazard R8. Hazard R18. Twenty at a time, each once, the results in order; and all of them are undone."""
    kid = Saga("kid", do("k", ok(lambda line: line), comp=OK, takes="line"), output=ref("k"))
    lines = ForEach("line", ref("input.lines"), Child(kid).bind(line=ref("line")), concurrency=20)
    ends = [do("end", ok(lambda results: results), takes="results"), Wait("go")]
    x = Saga("p", lines.named("line", provides="results"), *ends).start(lines=list(range(many)))
    began = time.monotonic()
    x = settled(x)
    record_property("seconds_forward", time.monotonic() - began)
    assert rec(x, "end").output == list(range(many)) and calls("k") == many
    assert Counter(end(one) for one in x.children.all()) == {DONE: many}
    x.cancel()
    began = time.monotonic()
    x = settled(x)
    record_property("seconds_back", time.monotonic() - began)
    assert end(x) == CANCELLED and Counter(end(one) for one in x.children.all()) == {CANCELLED: many}
    assert Counter(ledger.order()) == {"k": many, "end": 1, "~k": many}
