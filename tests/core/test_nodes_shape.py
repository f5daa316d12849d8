"""The shape of a saga: marks where they mean something, names once, no two gates for one signal."""

from __future__ import annotations

from typing import Any

import pytest

from saga_app import (
    Approval,
    Branch,
    Child,
    Compute,
    DefinitionError,
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
)
from saga_app.core import registry
from saga_app.core.nodes import Node
from tests.core.making import made

A, B, C, D = made("a"), made("b"), made("c"), made("d")
LINES = ref("input.lines")


def check() -> bool:
    return True


def other() -> bool:
    return True


def refused(*nodes: Any) -> str:
    """Refused as soon as it is written, before anything is sealed."""
    with registry.isolate(), pytest.raises(DefinitionError) as caught:
        Saga("s", *nodes)
    assert str(caught.value).startswith("saga 's'")
    return str(caught.value)


def accepted(*nodes: Any) -> None:
    with registry.isolate():
        Saga("s", *nodes)


# Something to do


@pytest.mark.parametrize("nodes", [[], [Pivot()], [Milestone("m")], [Milestone("m"), Pivot()]])
def test_marks_alone_do_nothing(nodes: list[Node]) -> None:
    """There has to be something to go past them for."""
    assert "has no steps: write Saga(…, first_step, second_step)" in refused(*nodes)


@pytest.mark.parametrize(
    "node", [Wait("go"), Sleep(1), Child("kid"), Approval("ok", permission="a.b"), Try(A, recover=B)]
)
def test_a_saga_may_do_without_steps_of_its_own(node: Node) -> None:
    """Waiting for something is something to do."""
    accepted(node)


# Marks

BLOCKS = [
    (lambda *inner: Branch(check, way=list(inner)), "Branch `check`"),
    (lambda *inner: Branch(check, way=A, default=list(inner)), "Branch `check`"),
    (lambda *inner: If(check, *inner), "If `check`"),
    (lambda *inner: If(check, A, otherwise=list(inner)), "If `check`"),
    (lambda *inner: Try(*inner, recover=A), "Try(…)"),
    (lambda *inner: Try(A, recover=list(inner)), "Try(…)"),
    (lambda *inner: Parallel(way=list(inner)), "Parallel(…)"),
    (lambda *inner: ForEach("line", LINES, *inner, concurrency=2), "ForEach `line`"),
    (lambda *inner: Wait("paid", timeout=1, on_timeout=list(inner)), "Wait `paid`"),
    (lambda *inner: Approval("ok", permission="a.b", on_reject=list(inner)), "Approval `ok`"),
]
LOOPS = [
    (lambda *inner: While(check, *inner), "While `check`"),
    (lambda *inner: Repeat(*inner, until=check), "Repeat `check`"),
    (lambda *inner: ForEach("line", LINES, *inner), "ForEach `line`"),
]


@pytest.mark.parametrize(("around", "shown"), [*BLOCKS, *LOOPS])
def test_a_pivot_stands_between_the_nodes_of_the_saga(around: Any, shown: str) -> None:
    """Nowhere else, and the text says why."""
    text = refused(around(B, Pivot()), C)
    assert f"has Pivot() inside {shown}: what is past a pivot is never undone" in text
    assert "from inside a block that may not run nobody could tell" in text
    assert "move it between the saga's own nodes" in text
    assert f"inside {shown}" in refused(If(other, around(B, Pivot())), C)
    accepted(around(B), Pivot(), C)


def test_a_pivot_alone_in_parallel() -> None:
    """It has no name to call a branch by, and no place there anyway."""
    assert "has Pivot() inside Parallel(…)" in refused(Parallel(A, Pivot()), B)


def test_one_pivot() -> None:
    """Past the first it only goes forward."""
    assert "more than one Pivot()" in refused(A, Pivot(), B, Pivot())


@pytest.mark.parametrize(("around", "shown"), BLOCKS)
def test_a_milestone_stands_on_the_line_of_the_unwind(around: Any, shown: str) -> None:
    """Between the saga's own nodes; not on a way that may not be gone, and not in a part of something."""
    text = refused(B, around(Milestone("half"), C))
    assert f"has Milestone('half') inside {shown}, wh" in text
    assert "move it between the saga's own nodes, or straight into the body of a loop that takes one turn" in text
    for loop in (While(other, around(Milestone("half"), C)), Repeat(around(Milestone("half"), C), until=other)):
        assert f"inside {shown}" in refused(B, loop)
    assert "has Milestone('half')" in refused(around(While(other, C, Milestone("half"))))


@pytest.mark.parametrize(("around", "shown"), LOOPS)
def test_a_milestone_in_a_loop(around: Any, shown: str) -> None:
    """Straight in its body, or in that of a loop in it: turns come one after the other."""
    accepted(around(B, Milestone("half")))
    accepted(around(B, Repeat(Milestone("half"), until=other), Milestone("whole")))
    assert shown not in refused(around(If(other, Milestone("half"))))


# Names


def test_every_node_with_a_record_has_a_name_of_its_own() -> None:
    """Whatever its kind; the text says both and the line to write."""
    assert 'uses Wait `go` twice, and each use needs a name of its own: write Wait(…).named("go_again")' in refused(
        *[Wait("go")] * 2
    )
    text = refused(If(check, A), While(check, B))
    assert "two nodes called `check` (If `check` and While `check`)" in text
    assert 'as in While(…).named("check_again")' in text
    assert "uses If `check` twice" in refused(If(check, A), If(check, B))
    assert "uses Sleep(…) twice" in refused(Sleep(1), Sleep(2))
    assert "two nodes called `a` (step `a` and Wait `a`)" in refused(A, Wait("a"))
    assert "two Computes called `x`" in refused(Compute("x", check), Compute("x", other))
    assert "uses Compute `x` twice" in refused(Compute("x", check), Compute("x", check))
    assert "two nodes called `a` (Milestone `a` and step `a`)" in refused(Milestone("a"), A)
    assert "uses Child `kid` twice" in refused(Child("kid"), Child("kid"))


def test_names_are_of_the_whole_saga() -> None:
    """A path is the loops and the name, so other blocks do not make two of one name."""
    assert "uses step `a` twice" in refused(Branch(check, one=A, two=A))
    assert "uses step `a` twice" in refused(A, ForEach("line", LINES, A))
    assert "uses step `a` twice" in refused(Try(A, recover=A))
    assert "uses step `a` twice" in refused(Parallel(A, x=[B, While(check, A)]))
    accepted(Parallel(A, B), Parallel(C, D), Try(made("e"), recover=made("f")), Try(made("g"), recover=made("h")))


@pytest.mark.parametrize(
    ("node", "cure"),
    [
        (Branch(lambda: "a", a=A), 'write Branch(…).named("…"), or a def in its place'),
        (If(lambda: True, A), 'write If(…).named("…"), or a def in its place'),
        (While(lambda: True, A), 'write While(…).named("…")'),
        (Repeat(A, until=lambda: True), 'write Repeat(…).named("…")'),
        (ForEach("line", LINES, If(lambda: True, A)), 'write If(…).named("…")'),
    ],
)
def test_a_lambda_has_no_name(node: Any, cure: str) -> None:
    """What it chose is recorded under one."""
    text = refused(node)
    assert "a lambda has none" in text
    assert cure in text


@pytest.mark.parametrize("node", [Wait("key"), Child("input"), Approval("index", permission="a.b")])
def test_reserved_words_are_not_provided(node: Any) -> None:
    """A name that comes from elsewhere may be one of them, and what is provided gets another."""
    text = refused(node)
    assert f"provides `{node.name}`, a word that always means something else" in text
    assert f'write .named(provides="{node.name}_value") behind it' in text
    accepted(node.named(provides=f"{node.name}_value"))


# Signals


def test_one_signal_opens_one_gate() -> None:
    """Two gates of one group may be closed at once, and nobody could tell which of them is meant."""
    first, second = Wait("paid").named("first"), Wait("paid").named("second")
    text = refused(Parallel(card=[A, first], invoice=[second]))
    assert "Wait `first` and Wait `second` wait for the same signal 'paid'" in text
    assert 'as in Wait("paid_invoice"), or wait once, before or behind the group' in text
    nested = Parallel(card=If(check, Repeat(first, until=other)), invoice=Parallel(A, x=[B, second]))
    assert "wait for the same signal 'paid'" in refused(nested)
    late = Wait("go", timeout=1, on_timeout=second)
    assert "wait for the same signal 'paid'" in refused(Parallel(first, late))


def test_one_signal_may_open_gates_that_are_not_closed_at_once() -> None:
    """One after the other, on ways of which one is gone, or in the turns of a loop, which paths tell apart."""
    first, second = Wait("paid").named("first"), Wait("paid").named("second")
    accepted(first, second)
    accepted(Branch(check, card=first, invoice=second))
    accepted(Parallel(card=[first, second], invoice=A))
    accepted(Parallel(A, first), Parallel(B, second))
    accepted(ForEach("line", LINES, first, concurrency=2), second)
