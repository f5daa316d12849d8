"""Hazards of nodes that are ruled out when a saga is written, each with the line to write instead."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from saga_app import Approval, Branch, Compute, DefinitionError, ForEach, If, Parallel, Saga, Sleep, Try, Wait, ref
from saga_app.core import registry
from saga_app.core.nodes import blocks
from saga_app.core.tree import places
from tests.core.making import Order, made, refused

A, B = made("a"), made("b")
LINES = ref("input.lines")


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """A registry of its own: what is defined here is nobody else's conflict."""
    with registry.isolate():
        yield


def written(node: Callable[[], Any]) -> str:
    with pytest.raises(DefinitionError) as caught:
        node()
    return str(caught.value)


@pytest.mark.parametrize("name", ["__proto__", "__init__", "a/b", "line[0]", "a:b", "a b", "", " ", "~a"])
@pytest.mark.parametrize(
    "kind", [Wait, lambda name: Approval(name, permission="shop.approve"), lambda name: Sleep(1).named(name)]
)
def test_names_that_no_gate_may_have(name: str, kind: Any) -> None:
    """Hazard A40. Hazard A41. Nothing that could be taken for a path, for one of ours, or for no name at all."""
    assert "name" in written(lambda: kind(name)) or "signal" in written(lambda: kind(name))


@pytest.mark.parametrize(
    "other",
    [
        Wait("a"),
        Sleep(1).named("a"),
        Compute("a", lambda: 1),
        Approval("a", permission="shop.approve"),
        ForEach("a", LINES, B),
        If(lambda: True, B).named("a"),
        If(lambda: True, Wait("a")).named("way"),
    ],
    ids=lambda node: node.kind,
)
def test_one_name_for_two_nodes(other: Any) -> None:
    """Hazard B97. Whatever kinds they are of, and however deep one of them stands: records are told apart by name."""
    assert "called `a`" in refused(A, other)


def test_two_gates_that_one_signal_could_open() -> None:
    """Hazard A42. In one group nobody could tell which of them is meant; one after the other, each takes one."""
    two = Parallel(a=[Wait("go").named("one")], b=[Wait("go").named("two")])
    assert "wait for the same signal" in refused(two)
    assert Saga("s", Wait("go").named("one"), Wait("go").named("two"), A).nodes


@pytest.mark.parametrize(
    "node",
    [
        lambda: Branch(lambda: "a"),
        lambda: Branch(lambda: "a", a=[]),
        lambda: Parallel(),  # noqa: PLW0108 - as the others
        lambda: Parallel(a=[]),
        lambda: Try(A),
        lambda: ForEach("line", LINES),
    ],
)
def test_a_node_with_no_way_to_go(node: Callable[[], Any]) -> None:
    """Hazard R32. It is refused where it is written, not when a run comes to it."""
    assert "write" in written(node)


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ([A, made("c", "totl")], "total"),
        ([If(lambda: True, made("c").named("c", provides="maybe")).named("way"), made("d", "maybe")], "give the para"),
        ([ForEach("line", lambda: [1], made("c").named("c", provides="inside")), made("e", "inside")], "`line`"),
        ([A, made("c", "n").bind(n=ref("b.total")), B], "only later"),
        ([A, ForEach("line", ref("b"), made("c")), B], "only later"),
    ],
    ids=["unknown", "maybe", "inside", "too early", "items too early"],
)
def test_a_value_that_will_not_be_there(nodes: list[Any], said: str) -> None:
    """Hazard B137. A name that may not exist at that place is found before anything has run."""
    assert said in refused(*nodes, input=Order)


def test_every_way_begins_at_the_beginning() -> None:
    """Hazard B136. A saga is a row of nodes, and no graph that could be entered anywhere."""
    with_all = Saga("s", A, Branch(lambda: "x", x=[B, made("c")], default=[made("d")]).named("way"))
    assert [one.top for one in places(with_all.nodes).values()] == [0, 1, 1, 1, 1]
    assert [label for label, row in blocks(with_all.nodes[1])] == ["x", "default"]


@pytest.mark.parametrize(
    "node", [Wait("go"), Sleep(1), Approval("ok", permission="shop.approve"), If(lambda: True, A).named("w")]
)
def test_what_is_not_undone_cannot_pretend_to_be(node: Any) -> None:
    """Hazard B193. A gate, a sleep or a choice takes no compensation, so nobody can expect it to be undone."""
    assert not hasattr(node, "compensate")
    with pytest.raises(DefinitionError, match="nothing to undo"):
        Compute("c", lambda: 1).compensate(lambda: None)
