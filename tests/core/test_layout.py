"""The layout of a graph: nothing overlaps, what comes next is below, no line goes through what it has no part in."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from time import perf_counter
from typing import Any

from hypothesis import given, settings

from saga_app.core.layout import Box, Layout, Line, layout
from saga_app.core.nodes import Node
from tests.core.graphing import ask, do, graph, trees

few = settings(max_examples=min(60, settings().max_examples))


def laid_out(drawn: dict[str, Any]) -> Layout:
    return layout(drawn, lambda node: (100.0 + 10 * (len(node["id"]) % 7), 30.0 + 10 * (len(node["kind"]) % 3)))


def inside(inner: Box, outer: Box) -> bool:
    return (
        outer.x <= inner.x
        and outer.y <= inner.y
        and inner.x + inner.width <= outer.x + outer.width
        and inner.y + inner.height <= outer.y + outer.height
    )


def apart(one: Box, other: Box) -> bool:
    return (
        one.x + one.width <= other.x
        or other.x + other.width <= one.x
        or one.y + one.height <= other.y
        or other.y + other.height <= one.y
    )


def around(drawn: dict[str, Any]) -> dict[str, set[str]]:
    """Node → the groups that it is in."""
    parents = {one["id"]: one["parent"] for one in drawn["groups"]}
    found = {}
    for node in drawn["nodes"]:
        chain, group = set(), node["group"]
        while group is not None:
            chain.add(group)
            group = parents[group]
        found[node["id"]] = chain
    return found


def pieces(line: Line) -> Iterator[Box]:
    """The room that each piece of a line takes, wherever it bends in it."""
    for (ax, ay), (bx, by) in zip(line.points, line.points[1:], strict=False):
        yield Box("", min(ax, bx), min(ay, by), abs(ax - bx), abs(ay - by))


@few
@given(trees())
def test_nothing_overlaps(nodes: tuple[Node, ...]) -> None:
    drawn = graph(*nodes)
    found, groups_of = laid_out(drawn), around(drawn)
    whole = Box("", 0, 0, found.width, found.height)
    assert all(inside(box, whole) for box in (*found.nodes, *found.groups))
    assert all(apart(one, other) for one, other in combinations(found.nodes, 2))
    for group in found.groups:
        for node in found.nodes:
            assert (inside if group.id in groups_of[node.id] else apart)(node, group)
    for one, other in combinations(found.groups, 2):  # an outer one comes before those in it
        assert apart(one, other) or inside(other, one)


@few
@given(trees())
def test_what_comes_next_is_below(nodes: tuple[Node, ...]) -> None:
    drawn = graph(*nodes)
    found = laid_out(drawn)
    at = {box.id: box for box in found.nodes}
    assert [box.id for box in found.nodes] == [one["id"] for one in drawn["nodes"]]
    for edge in drawn["edges"]:
        above, below = at[edge["from"]], at[edge["to"]]
        assert edge["kind"] == "turn" or above.y + above.height < below.y


@few
@given(trees())
def test_no_line_goes_through_a_box(nodes: tuple[Node, ...]) -> None:
    drawn = graph(*nodes)
    found, groups_of = laid_out(drawn), around(drawn)
    assert [(x.source, x.target, x.kind) for x in found.lines] == [
        (edge["from"], edge["to"], edge["kind"]) for edge in drawn["edges"]
    ]
    for line in found.lines:
        others = [box for box in found.nodes if box.id not in (line.source, line.target)]
        own = groups_of[line.source] | groups_of[line.target]
        others += [box for box in found.groups if box.id not in own]
        for piece in pieces(line):
            assert all(apart(piece, box) for box in others)


@few
@given(trees())
def test_a_line_joins_its_ends(nodes: tuple[Node, ...]) -> None:
    found = laid_out(graph(*nodes))
    at = {box.id: box for box in found.nodes}
    for line in found.lines:
        source, target = at[line.source], at[line.target]
        assert line.points[0] == (source.x + source.width / 2, source.y + source.height)
        x, y = line.points[-1]
        assert target.x <= x <= target.x + target.width and target.y <= y <= target.y + target.height


def test_a_long_saga_is_laid_out_at_once() -> None:
    drawn = graph(ask("a"), *[do(f"s{number}") for number in range(500)])
    began = perf_counter()
    laid_out(drawn)
    assert perf_counter() - began < 1
