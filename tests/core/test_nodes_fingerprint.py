"""The fingerprint of a tree: what decides whether the records of earlier code still mean the same."""

from __future__ import annotations

from typing import Any

from hypothesis import given

from saga_app import (
    Approval,
    Branch,
    Child,
    Compute,
    ForEach,
    If,
    Milestone,
    Parallel,
    Pivot,
    Repeat,
    Saga,
    Sleep,
    Try,
    Wait,
    While,
    ref,
    step,
)
from saga_app.core import registry
from saga_app.core.nodes import Node
from saga_app.core.validation import fingerprint_of
from tests import strategies
from tests.core.making import made, saga

A, B, C = made("a"), made("b"), made("c")
LINES = ref("input.lines")
with registry.isolate():
    KID = Saga("kid", B)


def check() -> bool:
    return True


def other() -> bool:
    return False


def test_every_part_of_the_tree_counts() -> None:
    """Kinds, names, what is provided, which node stands in which block, and whether items run side by side."""
    trees: list[list[Node]] = [
        [A, B, C],
        [Compute("a", check), B, C],
        [If(check, A, B, C)],
        [If(check, A, B), C],
        [If(check, A, otherwise=[B, C])],
        [If(other, A, B, C)],
        [If(check, A, B, C).named("named")],
        [Branch(check, x=[A, B, C])],
        [Branch(check, y=[A, B, C])],
        [Branch(check, x=[A, B, C], default=[])],
        [Branch(check, x=[A, B], default=C)],
        [While(check, A, B, C)],
        [Repeat(A, B, C, until=check)],
        [Repeat(A, B, Milestone("m"), C, until=check)],
        [Repeat(A, B, Milestone("n"), C, until=check)],
        [ForEach("line", LINES, A, B, C)],
        [ForEach("line", LINES, A, B, C, concurrency=2)],
        [ForEach("line", LINES, A, B, C).named(provides="lines")],
        [ForEach("row", LINES, A, B, C)],
        [Parallel(A, B, C)],
        [Parallel(A, x=[B, C])],
        [Try(A, B, recover=C)],
        [Try(A, recover=[B, C])],
        [A, Wait("x"), B, C],
        [A, Wait("y"), B, C],
        [A, Wait("y").named("x"), B, C],
        [A, Wait("x", timeout=60, on_timeout=B), C],
        [A, Approval("x", permission="a.b"), B, C],
        [A, Approval("x", permission="a.b", on_reject=B), C],
        [A, Sleep(60).named("x"), B, C],
        [A, Child("x"), B, C],
        [A, Child("y").named("x"), B, C],
        [A, Child("x").named(compensate=False), B, C],
        [A, Pivot(), B, C],
    ]
    assert len({fingerprint_of(tree) for tree in trees}) == len(trees)


def test_what_may_change_under_way_does_not_count() -> None:
    """Times, limits, policies, queues, permissions and caught errors are read anew each time."""
    same: list[tuple[Node, Node]] = [
        (A, step(name="a", queue="slow", timeout=5, attempts=9)(lambda: None)),
        (While(check, A), While(check, A, max_iterations=3)),
        (If(check, A), If(Compute("check", other, attempts=9), A)),
        (ForEach("x", LINES, A), ForEach("x", check, A, max_items=5)),
        (ForEach("x", LINES, A, concurrency=2), ForEach("x", LINES, A, concurrency=9)),
        (Wait("x", timeout=60), Wait("x")),
        (Wait("x", timeout=60, on_timeout=A), Wait("x", timeout=61, on_timeout=A)),
        (Approval("x", permission="a.b"), Approval("x", allow=check, four_eyes=True, input=dict, timeout=3)),
        (Sleep(60), Sleep(until=check)),
        (Try(A, recover=B), Try(A, catch=OSError, recover=B)),
        (Child("kid"), Child(KID).bind(x=1)),
        (A, A.bind()),
    ]
    for one, two in same:
        assert fingerprint_of([one]) == fingerprint_of([two]), (one, two)


@given(strategies.trees())
def test_a_tree_without_one_of_its_nodes_is_another(nodes: tuple[Node, ...]) -> None:
    """The same nodes have the same fingerprint, and none can be left out without a change."""
    whole = saga(*nodes)
    assert whole.fingerprint == fingerprint_of(nodes) == fingerprint_of(list(nodes))
    for place in range(len(nodes)):
        fewer: tuple[Any, ...] = (*nodes[:place], *nodes[place + 1 :])
        assert fingerprint_of(fewer) != whole.fingerprint
