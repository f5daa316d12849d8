"""Cases about executions in executions, and about definitions that change while they wait."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from saga_app import Child, DefinitionError, Saga, Wait
from tests.harness import (
    CANCELLED,
    DONE,
    OK,
    UNWOUND,
    calls,
    child,
    children,
    clear,
    die,
    do,
    end,
    fail,
    halted,
    held,
    keys,
    lapse,
    now,
    ok,
    order,
    run,
    why,
    work,
)
from tests.script import Entry


def kid(*k2: Entry, back: Sequence[Entry] = (ok(None),)) -> Saga[Any]:
    return Saga("kid", do("k1", comp=OK), do("k2", *k2, comp=list(back), attempts=2))


def parent(one: Saga[Any]) -> Saga[Any]:
    return Saga("p", do("a", comp=OK), Child(one), do("b", comp=OK), do("c", fail(ValueError)))


def test_c41_the_parent_unwinds_after_the_child_is_done() -> None:
    """Case C41. A completed child is undone by its own unwind in its place; a failed child has undone itself."""
    x = run(parent(kid()))
    assert end(x) == UNWOUND and order() == ["a", "k1", "k2", "b", "c", "~b", "~k2", "~k1", "~a"]
    assert end(child(x, "kid")) == CANCELLED
    bad = Saga("bad", do("k1", comp=OK), do("k2", fail(ValueError)))
    x = run(Saga("p", do("a", comp=OK), Child(bad), do("b")))
    assert end(x) == UNWOUND and order() == ["a", "k1", "k2", "~k1", "~a"] and end(child(x, "bad")) == UNWOUND


@pytest.mark.parametrize("many", [1, 2])
def test_c41_a_worker_dies_in_the_child(many: int) -> None:
    """Case C41. The child's end and the parent's wake are one transaction, so nobody waits for ever."""
    clear()
    x = Saga("p", do("a"), Child(kid(die("after"), ok())), do("b")).start()
    work(many)
    lapse()
    work(many)
    assert end(x) == DONE and order() == ["a", "k1", "k2", "k2", "b"]
    assert len(keys("k2")) == 1 and len(children(x)) == 1
    clear()
    x = Saga("p", Child(Saga("kid", do("k2", die("recorded")))), do("b")).start()
    work(many)
    lapse()
    work(many)
    assert end(x) == DONE and order() == ["k2", "b"]


def test_c41_the_childs_unwind_gets_stuck() -> None:
    """Case C41. So does its parent, naming it; when the child goes on, so does the parent."""
    x = run(parent(kid(back=(fail(OSError), ok()))))
    assert end(x) == halted("child_stuck") and end(child(x, "kid")) == halted("compensation_failed")
    assert (
        "kid is stuck (compensation_failed)" in why(x)
        and order()[-2:] == ["~b", "~k2"]
        and calls("~k1") == calls("~a") == 0
    )
    child(x, "kid").resume(reason="fixed")
    work()
    if now(x).status == "stuck":
        x.resume(reason="child fixed")
        work()
    assert end(x) == UNWOUND and end(child(x, "kid")) == CANCELLED
    assert order()[-3:] == ["~k2", "~k1", "~a"] and calls("~k2") == 2


def test_c41_a_deep_chain() -> None:
    """Case C41. Twenty executions, each the child of the next; one that is its own child is refused."""
    deep = Saga("n0", do("k"))
    for i in range(1, 20):
        deep = Saga(f"n{i}", Child(deep))
    assert end(run(deep, n=2)) == DONE and calls("k") == 1
    with pytest.raises(DefinitionError):
        Saga("self", Child("self")).start()


def test_c19_an_execution_keeps_its_revision() -> None:
    """Case C19. A step is renamed, removed or reordered while runs are in flight: nothing is matched by position."""
    v1 = Saga("o", do("a", comp=OK), Wait("go"), do("b"), revision=1)
    v2 = Saga("o", do("a0"), do("a_new", comp=OK), Wait("go"), do("c"), revision=2)
    x, y = v1.start(), v1.start()
    work(sagas=[v1])
    x.signal("go", 1)
    y.signal("go", 1)
    y.suspend()
    work(sagas=[v1, v2])
    assert end(x) == DONE and calls("b") == 1 and calls("a0") == calls("c") == 0
    y.resume()
    for _ in range(20):  # an old worker in a rolling deploy puts it back for a while
        work(sagas=[v2], skip=True)
    assert end(y) == held("definition_missing") and "o" in why(y) and "1" in why(y) and calls("b") == 1
    y.resume()
    work(sagas=[v1, v2])
    assert end(y) == DONE and calls("b") == 2 and calls("a") == 2


def test_c19_the_same_revision_has_changed() -> None:
    """Case C19. What ran no longer fits: stuck until it does. What was only added to, goes on."""
    v1 = Saga("o", do("a", comp=OK), Wait("go"), do("b"), revision=1)
    z = v1.start()
    work(sagas=[v1])
    z.signal("go", 1)
    work(sagas=[Saga("o", do("b"), revision=1)])
    assert end(z) == held("definition_changed") and calls("b") == 0
    fits = Saga("o", do("a", comp=OK), Wait("go"), do("b"), do("more"), revision=1)
    z.resume()
    work(sagas=[fits])
    assert end(z) == DONE and calls("b") == 1 and calls("more") == 1
