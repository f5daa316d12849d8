"""Where nodes stand in a saga, and what paths say: the loops around, the lanes, the pivot."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    Sleep,
    Try,
    Wait,
    While,
    ref,
)
from saga_app.core.nodes import Node, blocks, called, walk
from saga_app.core.steps import Step
from saga_app.core.tree import Ahead, independent, inside, join, lanes_of, name_of, places, prefix_of, turns_of
from tests import strategies
from tests.core.making import made, saga

LINES = ref("input.lines")


def check() -> bool:
    return True


# Paths


@pytest.mark.parametrize(
    ("path", "name", "prefix", "turns"),
    [
        ("pack", "pack", "", {}),
        ("line", "line", "", {}),
        ("line[3]/pack", "pack", "line[3]/", {"line": 3}),
        ("again[0]", "again", "", {"again": 0}),
        ("line[3]/again[12]", "again", "line[3]/", {"line": 3, "again": 12}),
        ("line[3]/again[12]/a-b", "a-b", "line[3]/again[12]/", {"line": 3, "again": 12}),
    ],
)
def test_what_a_path_says(path: str, name: str, prefix: str, turns: dict[str, int]) -> None:
    """Its own name, and the turns around it, outermost first."""
    assert (name_of(path), prefix_of(path), dict(turns_of(path))) == (name, prefix, turns)
    assert list(turns_of(path)) == list(turns)


@given(st.lists(st.tuples(strategies.any_names, st.integers(0, 9999)), max_size=4), strategies.any_names)
def test_paths_are_read_as_they_are_made(loops: list[tuple[str, int]], name: str) -> None:
    """Whatever the loops around it."""
    prefix = ""
    for loop, turn in loops:
        assert name_of(join(prefix, loop, turn)) == loop
        assert turns_of(join(prefix, loop, turn)) == {**turns_of(prefix), loop: turn}
        prefix = inside(prefix, loop, turn)
    path = join(prefix, name)
    assert (name_of(path), prefix_of(path), dict(turns_of(path))) == (name, prefix, dict(loops))


# Places

PACK, WEIGH = made("pack"), made("weigh")
HOTEL, CAR = made("hotel"), made("car")
UNTIL = Repeat(PACK, Milestone("packed"), until=check).named("until")
TRIP = saga(
    made("first"),
    ForEach("order", LINES, ForEach("line", LINES, PACK, If(check, WEIGH), concurrency=2)),
    Parallel(
        HOTEL,
        ForEach("bag", LINES, made("label"), concurrency=2),
        out=[CAR, While(check, made("drive")).named("far")],
    ),
    Parallel(Try(made("mail"), recover=made("call")), x=made("note")),
)


def test_the_steps_of_a_saga() -> None:
    """In the order in which they are written, wherever they are; nothing that merely computes."""
    names = ["first", "pack", "weigh", "hotel", "label", "car", "drive", "mail", "call", "note"]
    assert [one.name for one in TRIP.steps] == names


def test_what_stands_at_a_path() -> None:
    """The node, and the step that is called there: the node itself, or what it chooses with."""
    assert TRIP.step("order[0]/line[7]/pack") is PACK
    assert TRIP.node("order[0]/line[7]/pack") is PACK
    for path, kind in (("check", "if"), ("far[3]", "while"), ("order", "foreach")):
        node, inner = TRIP.node(path), TRIP.step(path)
        assert node
        assert inner
        assert (node.kind, inner.kind) == (kind, "compute")
        assert called(node) is inner
    gates = saga(Wait("go"), Sleep(1), Approval("ok", permission="a.b"), Child("kid"), Milestone("m"), Pivot())
    for path in ("go", "sleep", "ok", "kid", "m"):
        assert gates.place(path)
        assert gates.step(path) is None
    for path in ("nobody", "nobody[1]/any[2]", "parallel", "try", ""):
        assert (TRIP.place(path), TRIP.node(path), TRIP.step(path)) == (None, None, None)


def test_the_loops_around_a_node() -> None:
    """Outermost first; its own is not around it."""

    def loops(name: str) -> list[str]:
        place = TRIP.place(name)
        assert place
        return [one.name for one in place.loops]

    assert loops("weigh") == loops("check") == ["order", "line"]
    assert (loops("line"), loops("order"), loops("far"), loops("drive")) == (["order"], [], [], ["far"])


def lanes(path: str) -> list[tuple[str, str]]:
    place = TRIP.place(path)
    assert place
    return list(lanes_of(place, path))


def test_lanes() -> None:
    """Each group with the turns around it, and where in the group; two groups never have one name."""
    assert lanes("order[4]/line[7]/weigh") == [("order[4]/line", "7")]
    assert lanes("order[4]/line") == []
    assert lanes("hotel") == [("parallel:1", "hotel")]
    assert lanes("bag[2]/label") == [("parallel:1", "bag"), ("bag", "2")]
    assert lanes("bag") == [("parallel:1", "bag")]
    assert lanes("far[3]/drive") == lanes("far[3]") == [("parallel:1", "out")]
    assert lanes("call") == [("parallel:2", "try")]


PATHS = [
    "first", "hotel", "car", "far[0]", "far[1]/drive", "mail", "call", "note", "nobody", "order", "order[1]/line",
    *(f"order[{a}]/line[{b}]/{name}" for a in range(2) for b in range(2) for name in ("pack", "check", "weigh")),
    *(f"bag[{b}]/label" for b in range(2)), "bag",
]  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ("hotel", "car", True),
        ("car", "far[1]/drive", False),
        ("hotel", "note", False),
        ("first", "hotel", False),
        ("order[0]/line[1]/pack", "order[0]/line[2]/pack", True),
        ("order[0]/line[1]/pack", "order[0]/line[1]/weigh", False),
        ("order[0]/line[1]/pack", "order[1]/line[2]/pack", False),
        ("bag[0]/label", "bag[1]/label", True),
        ("bag[0]/label", "hotel", True),
        ("bag[0]/label", "bag", False),
        ("mail", "call", False),
        ("mail", "note", True),
        ("mail", "nobody", False),
    ],
)
def test_what_is_independent(one: str, other: str, apart: bool) -> None:
    """Two records in different lanes of one group, in the same turns around it."""
    assert independent(TRIP, one, other) is independent(TRIP, other, one) is apart
    ahead = Ahead(TRIP)
    ahead.add(one)
    assert ahead.holds_back(other) is not apart


@given(st.lists(st.sampled_from(PATHS), max_size=4), st.sampled_from(PATHS))
def test_many_records_are_asked_at_once(ahead: list[str], path: str) -> None:
    """Whether one of them is not independent of a record."""
    together = Ahead(TRIP)
    for one in ahead:
        together.add(one)
    assert together.holds_back(path) is any(not independent(TRIP, one, path) for one in ahead)


@given(strategies.trees())
def test_every_node_with_a_record_has_a_place(nodes: tuple[Node, ...]) -> None:
    """Found by its name, with as many lanes as there are groups around it, and on the right side of the pivot."""
    whole = saga(*nodes)
    recorded = [one for one in walk(nodes) if one.kind not in {"parallel", "try", "pivot"}]
    assert [place.node for place in whole.places.values()] == recorded == [whole.node(one.name) for one in recorded]
    assert list(whole.steps) == [one for one in recorded if one.kind == "step"]
    pivot = next((at for at, one in enumerate(nodes) if one.kind == "pivot"), len(nodes))
    for top, node in enumerate(nodes):
        for one in walk([node]):
            if one in recorded:
                assert whole.past_pivot(one.name) is (top > pivot)
    for name, around in surroundings(nodes):
        place = places(nodes)[name]
        assert [one.name for one in place.loops] == [
            one.name for one, _ in around if one.kind in {"while", "repeat", "foreach"}
        ]
        groups = [label for one, label in around if one.kind == "parallel" or getattr(one, "concurrency", 1) > 1]
        assert [label or "body" for _, label in place.lanes] == groups


def surroundings(row: Any, around: tuple[Any, ...] = ()) -> Any:
    for node in row:
        if node.kind not in {"parallel", "try", "pivot"}:
            yield node.name, around
        for label, inner in blocks(node):
            yield from surroundings(inner, (*around, (node, label)))


# The pivot


def test_what_may_stand_right_before_the_pivot() -> None:
    """The last node, and what may be the last that runs in it."""
    whole = saga(
        made("a"),
        Branch(check, one=[made("b"), made("c")], two=Parallel(made("d"), x=[made("e"), made("f")])),
        Pivot(),
        Try(made("g"), recover=made("h")),
        Compute("i", check),
    )
    names = [one.name for one in walk(whole.nodes) if one.name]
    assert {one for one in names if whole.before_pivot(one)} == {"check", "c", "d", "f"}
    assert {one for one in names if whole.past_pivot(one)} == {"g", "h", "i"}
    looped = saga(ForEach("line", LINES, made("a"), made("b")), Pivot(), made("c"))
    assert [looped.before_pivot(path) for path in ("line", "line[0]/a", "line[0]/b", "c")] == [True, False, True, False]
    assert not saga(Pivot(), made("a")).before_pivot("a")


def test_a_step_in_a_tree_is_the_one_that_was_written() -> None:
    """Sagas share nodes; nothing about a place is kept in the node."""
    shared = If(check, PACK)
    one, two = saga(shared), saga(ForEach("line", LINES, shared))
    assert one.step("pack") is two.step("line[0]/pack") is PACK
    assert isinstance(one.step("check"), Step)
