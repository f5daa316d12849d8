"""Where the nodes of a graph are drawn: each group a box of layers, the boxes in each other, and no line through one.

A group is laid out by itself and is then one box of the group around it. In a group, whatever comes next stands in a
lower layer, as deep as the longest way to it. A line that passes a layer has a place of its own in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

Graph: TypeAlias = Mapping[str, Any]
Point: TypeAlias = tuple[float, float]
Size: TypeAlias = tuple[float, float]

ACROSS, DOWN = 24.0, 34.0  # between two boxes of a layer, and between two layers
SIDE, TOP, BOTTOM = 14.0, 26.0, 12.0  # from the edge of a group to what is in it; its label is on top
BARE, LABELLED = 20.0, 84.0  # the width of a line's own place
LANE = 16.0  # of a line that leads back, at the end side of its loop


@dataclass(frozen=True, slots=True)
class Box:
    """A node or a group, by the corner where both coordinates are least."""

    id: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Line:
    """An edge, from point to point. Where it turns aside, it does so between two layers; `label_at` is just behind."""

    source: str
    target: str
    kind: str
    label: str
    points: tuple[Point, ...]
    label_at: Point


@dataclass(frozen=True, slots=True)
class Layout:
    """Everything in its place. Of two groups, the one around the other comes first."""

    width: float
    height: float
    nodes: tuple[Box, ...]
    groups: tuple[Box, ...]
    lines: tuple[Line, ...]


@dataclass(slots=True)
class _Cell:
    """A place in a layer: of a node, of a group, or of a line that passes by."""

    key: object
    size: Size = (BARE, 0.0)
    x: float = 0.0
    y: float = 0.0
    row: int = 0


@dataclass(slots=True)
class _Group:
    """A group, or the whole drawing: what is in it, and the lines that begin or pass in it."""

    key: str
    members: list[str] = field(default_factory=list)
    inner: list[tuple[str, str, int]] = field(default_factory=list)
    """From member to member: number of the edge."""
    leaving: list[tuple[str, int]] = field(default_factory=list)
    """From a member out of the group, or back to its head."""
    back: list[int] = field(default_factory=list)
    cells: dict[object, _Cell] = field(default_factory=dict)
    rows: list[tuple[float, float]] = field(default_factory=list)
    """Upper and lower edge of each layer, from the group's own corner."""
    size: Size = (0.0, 0.0)
    at: Point = (0.0, 0.0)


def layout(graph: Graph, size: Callable[[Mapping[str, Any]], Size]) -> Layout:
    """Lay a graph out, from above to below.

    Args:
        graph: nodes, edges and groups, as `graph.graph_of` makes them.
        size: how large a node is drawn.
    """
    return _Layout(graph, size).laid_out()


class _Layout:
    def __init__(self, graph: Graph, size: Callable[[Mapping[str, Any]], Size]) -> None:
        self.edges: Sequence[Mapping[str, str]] = graph["edges"]
        self.sizes = {_node(one["id"]): size(one) for one in graph["nodes"]}
        self.parents = {_node(one["id"]): _group(one["group"]) for one in graph["nodes"]}
        self.parents |= {_group(one["id"]): _group(one["parent"]) for one in graph["groups"]}
        self.groups = {key: _Group(key) for key in [_group(None), *(_group(one["id"]) for one in graph["groups"])]}
        for one in graph["nodes"]:
            for key, parent in zip(self._chain(_node(one["id"])), self._chain(_node(one["id"]))[1:], strict=False):
                if key not in self.groups[parent].members:
                    self.groups[parent].members.append(key)

    def laid_out(self) -> Layout:
        for number, edge in enumerate(self.edges):
            self._enter(number, edge)
        for group in reversed(self.groups.values()):  # each comes after the one it is in
            self._arrange(group)
        root = self.groups[_group(None)]
        for group in self.groups.values():
            for key in group.members:
                if key in self.groups:
                    cell = group.cells[key]
                    self.groups[key].at = (group.at[0] + cell.x, group.at[1] + cell.y)
        nodes = tuple(self._box(key) for key in self.sizes)
        framed = tuple(self._box(key) for key in self.groups if key != root.key)
        lines = tuple(self._line(number, edge) for number, edge in enumerate(self.edges))
        return Layout(*root.size, nodes, framed, lines)

    def _chain(self, key: str) -> list[str]:
        """It, the group that it is in, and so on to the whole drawing."""
        chain = [key]
        while chain[-1] in self.parents:
            chain.append(self.parents[chain[-1]])
        return chain

    def _common(self, edge: Mapping[str, str]) -> tuple[list[str], list[str]]:
        """The chains of both ends of an edge, each up to what stands in the innermost group that has both."""
        source, target = self._chain(_node(edge["from"])), self._chain(_node(edge["to"]))
        while len(source) > 1 and len(target) > 1 and source[-2] == target[-2]:
            source.pop()
            target.pop()
        return source[:-1], target[:-1]

    def _enter(self, number: int, edge: Mapping[str, str]) -> None:
        source, target = self._common(edge)
        for key in source[:-1]:
            self.groups[self.parents[key]].leaving.append((key, number))
        shared = self.groups[self.parents[source[-1]]]
        if edge["kind"] == "turn":
            shared.leaving.append((source[-1], number))
            shared.back.append(number)
        else:
            shared.inner.append((source[-1], target[-1], number))

    def _arrange(self, group: _Group) -> None:
        """Its cells in layers, and its size."""
        depth = dict.fromkeys(group.members, 0)
        after: dict[str, list[str]] = {}
        for source, target, _ in group.inner:
            after.setdefault(source, []).append(target)
        for key in group.members:  # in the order of the walk, in which whatever comes next comes later
            for target in after.get(key, ()):
                depth[target] = max(depth[target], depth[key] + 1)
        last = max(depth.values())
        layers: list[list[_Cell]] = [[] for _ in range(last + 1)]
        for key in group.members:
            layers[depth[key]].append(_Cell(key, self._size(key), row=depth[key]))
        passing = [(depth[source], depth[target] - 1, number) for source, target, number in group.inner]
        passing += [(depth[source], last, number) for source, number in group.leaving]
        for above, below, number in passing:
            width = LABELLED if self.edges[number]["label"] else BARE
            for row in range(above + 1, below + 1):
                layers[row].append(_Cell((number, row), (width, 0.0), row=row))
        self._place(group, layers)

    def _size(self, key: str) -> Size:
        return self.groups[key].size if key in self.groups else self.sizes[key]

    def _place(self, group: _Group, layers: list[list[_Cell]]) -> None:
        is_root = group.key == _group(None)
        side, top, bottom = (SIDE, 4.0, 4.0) if is_root else (SIDE, TOP, BOTTOM)
        widths = [sum(cell.size[0] + ACROSS for cell in cells) - ACROSS for cells in layers]
        widest, y = max(widths), top
        for cells, width in zip(layers, widths, strict=True):
            x, height = side + (widest - width) / 2, max(cell.size[1] for cell in cells)
            for cell in cells:
                cell.x, cell.y = x, y
                x += cell.size[0] + ACROSS
                group.cells[cell.key] = cell
            group.rows.append((y, y + height))
            y += height + DOWN
        lanes = LANE * len(group.back)
        group.size = (widest + 2 * side + lanes, y - DOWN + bottom + lanes)

    def _box(self, key: str) -> Box:
        group = self.groups[self.parents[key]]
        cell = group.cells[key]
        return Box(key[2:], group.at[0] + cell.x, group.at[1] + cell.y, *cell.size)

    def _line(self, number: int, edge: Mapping[str, str]) -> Line:
        source, target = self._common(edge)
        start, end = self._box(source[0]), self._box(target[0])
        points: list[Point] = [(start.x + start.width / 2, start.y + start.height)]
        for key in source:
            points += self._passing(self.groups[self.parents[key]], key, number, points[-1][0])
        shared = self.groups[self.parents[target[-1]]]
        if edge["kind"] == "turn":
            points += self._back(shared, number, points[-1][0], end)
        else:
            row = shared.rows[shared.cells[target[-1]].row][0]
            points += [(end.x + end.width / 2, shared.at[1] + row), (end.x + end.width / 2, end.y)]
        below = [after for before, after in pairwise(points[1:]) if after[1] - before[1] >= DOWN]
        label_at = below[0] if below else (points[0][0], points[0][1] + BOTTOM + LANE / 2)
        kept = tuple(one for one, before in zip(points, [None, *points], strict=False) if one != before)
        return Line(edge["from"], edge["to"], edge["kind"], edge["label"], kept, label_at)

    def _passing(self, group: _Group, key: str, number: int, x: float) -> Iterator[Point]:
        """Out of the layer of one of its members, and through those below in which it has a place."""
        left, top = group.at
        row = group.cells[key].row
        yield x, top + group.rows[row][1]
        while (cell := group.cells.get((number, row := row + 1))) is not None:
            x = left + cell.x + cell.size[0] / 2
            yield x, top + group.rows[row][0]
            yield x, top + group.rows[row][1]

    def _back(self, group: _Group, number: int, x: float, head: Box) -> Iterator[Point]:
        """Below everything of the loop, up at its end side, and into its head from there."""
        lane = group.back.index(number) + 1
        bottom = group.at[1] + group.size[1] - LANE * lane + LANE / 2
        side = group.at[0] + group.size[0] - LANE * lane + LANE / 2
        middle = head.y + head.height / 2
        yield from ((x, bottom), (side, bottom), (side, middle), (head.x + head.width, middle))


def _node(known_by: str) -> str:
    return f"n:{known_by}"


def _group(known_by: str | None) -> str:
    return f"g:{known_by or ''}"
