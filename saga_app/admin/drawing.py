"""The graph of a saga as a picture: shapes for a template to print, coloured by what ran, and the same as words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from django.utils.text import Truncator
from django.utils.translation import ngettext

from saga_app import messages
from saga_app.core.failures import readable
from saga_app.core.layout import Box, Graph, Line, Point, layout
from saga_app.messages import graphs

WIDTH, PAD = 196.0, 10.0
TITLE, SMALL, LABEL = 23, 31, 14  # characters that fit into a line of each
LINES = 3
ROUND = {"start": 16, "end": 16, "join": 8, "parallel": 14, "try": 14, "pivot": 0, "milestone": 0}
ICONS = {
    "running": "▶", "waiting": "◷", "queued": "◷", "completed": "✓", "failed": "✗", "skipped": "–", "passed": "✓",
    "compensating": "↺", "compensated": "↩", "resolved": "✋", "abandoned": "⊘", "compensation_failed": "⚠",
}  # fmt: skip
ARROW = 4.0


class Text(NamedTuple):
    """A line of text and where it stands."""

    x: str
    y: str
    text: str


@dataclass(frozen=True, slots=True)
class Shape:
    """A node.

    Attributes:
        state: its class; empty where nothing ran.
        icon: for those who do not see the colour.
        tip: everything about it, in one line.
        link: where more of it is told, or nothing.
    """

    kind: str
    state: str
    icon: Text
    title: Text
    lines: list[Text]
    tip: str
    link: str
    x: str
    y: str
    width: str
    height: str
    round: str


@dataclass(frozen=True, slots=True)
class Frame:
    """A group, drawn around what is in it."""

    kind: str
    label: Text
    x: str
    y: str
    width: str
    height: str


@dataclass(frozen=True, slots=True)
class Edge:
    """A line with its arrow's head, as paths, and what is written beside it."""

    kind: str
    path: str
    head: str
    label: Text


@dataclass(frozen=True, slots=True)
class Word:
    """A node for those who do not see the picture."""

    title: str
    kind: str
    state: str
    turns: str
    link: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """What `parts/graph.html` prints."""

    title: str
    width: str
    height: str
    frames: list[Frame]
    edges: list[Edge]
    shapes: list[Shape]
    words: list[Word]


def drawing(
    graph: Graph,
    states: Mapping[str, str] | None = None,
    turns: Mapping[str, int] | None = None,
    links: Mapping[str, str] | None = None,
) -> Drawing:
    """Draw a saga.

    Args:
        graph: its nodes, edges and groups.
        states: what a node is, by its id; None: nothing ran, this is a definition.
        turns: how many records a node has, by its id.
        links: where more of a node is told, by its id.
    """
    pen = _Pen(states, turns or {}, links or {})
    laid = layout(graph, pen.size)
    by_id = {node["id"]: node for node in graph["nodes"]}
    labels = {group["id"]: group for group in graph["groups"]}
    return Drawing(
        title=readable(graph["title"] or graph["saga"]),
        width=_number(laid.width),
        height=_number(laid.height),
        frames=[_frame(box, labels[box.id]) for box in laid.groups],
        edges=[_edge(line) for line in laid.lines],
        shapes=[pen.shape(box, by_id[box.id]) for box in laid.nodes],
        words=[pen.word(node) for node in graph["nodes"] if node["kind"] != "join"],
    )


class _Pen:
    def __init__(self, states: Mapping[str, str] | None, turns: Mapping[str, int], links: Mapping[str, str]) -> None:
        self.states, self.turns, self.links = states, turns, links

    def size(self, node: Mapping[str, Any]) -> tuple[float, float]:
        if node["kind"] == "join":
            return 16.0, 16.0
        return WIDTH, 32.0 + 15.0 * len(self._lines(node))

    def shape(self, box: Box, node: Mapping[str, Any]) -> Shape:
        state, title = self._state(node), graphs.title(node["kind"], readable(node["title"]))
        is_join = node["kind"] == "join"
        lines = [] if is_join else [_cut(line, SMALL) for line in self._lines(node)]
        return Shape(
            kind=node["kind"],
            state=state,
            icon=_text(box.x + PAD, box.y + 21, "" if is_join else ICONS.get(state, "")),
            title=_text(
                box.x + PAD + (18 if state in ICONS else 0), box.y + 21, _cut(title, TITLE - 3 * (state in ICONS))
            ),
            lines=[_text(box.x + PAD, box.y + 38 + 15 * at, line) for at, line in enumerate(lines)],
            tip=self._tip(node, title),
            link=self.links.get(node["id"], ""),
            x=_number(box.x),
            y=_number(box.y),
            width=_number(box.width),
            height=_number(box.height),
            round=str(ROUND.get(node["kind"], 4)),
        )

    def word(self, node: Mapping[str, Any]) -> Word:
        return Word(
            title=graphs.title(node["kind"], readable(node["title"])) or node["kind"],
            kind=_kind(node["kind"]),
            state=self._said(node),
            turns=self._turns(node),
            link=self.links.get(node["id"], ""),
        )

    def _state(self, node: Mapping[str, Any]) -> str:
        return (self.states or {}).get(node["id"], "")

    def _said(self, node: Mapping[str, Any]) -> str:
        return "" if self.states is None else messages.word(messages.STANDING, self._state(node))

    def _turns(self, node: Mapping[str, Any]) -> str:
        count = self.turns.get(node["id"], 0)
        return ngettext("%(count)d turn", "%(count)d turns", count) % {"count": count} if count else ""

    def _lines(self, node: Mapping[str, Any]) -> list[str]:
        """Below the title: what it is and does, and what became of it."""
        facts = [one for one in [_kind(node["kind"]), *map(graphs.line, map(readable, node["lines"]))] if one][:LINES]
        became = " · ".join(filter(None, [self._said(node), self._turns(node)]))
        return [*facts, *([became] if became else [])]

    def _tip(self, node: Mapping[str, Any], title: str) -> str:
        facts = [
            title,
            _kind(node["kind"]),
            *map(graphs.line, map(readable, node["lines"])),
            self._said(node),
            self._turns(node),
        ]
        return ", ".join(filter(None, facts))


def _kind(kind: str) -> str:
    """What a node is, where neither its name nor its lines say it."""
    return messages.word(messages.KIND, kind) if kind in ("wait", "approval", "sleep", "child") else ""


def _frame(box: Box, group: Mapping[str, Any]) -> Frame:
    said = graphs.frame(group["kind"], readable(group["label"]))
    label = _text(box.x + PAD, box.y + 17, _cut(said, max(int(box.width / 7), 8)))
    return Frame(group["kind"], label, *map(_number, (box.x, box.y, box.width, box.height)))


def _edge(line: Line) -> Edge:
    x, y = line.label_at
    label = _text(x + 7, y - 7, _cut(graphs.edge(line.kind, readable(line.label)), LABEL))
    return Edge(line.kind, _path(line), _head(line.points), label)


def _path(line: Line) -> str:
    """From above to below with soft bends; what leads back has corners."""
    parts = [f"M{_at(line.points[0])}"]
    for before, after in pairwise(line.points):
        straight = before[0] == after[0] or before[1] == after[1]
        middle = (before[1] + after[1]) / 2
        bend = f"C{_at((before[0], middle))} {_at((after[0], middle))} "
        parts.append(f"L{_at(after)}" if straight else f"{bend}{_at(after)}")
    return " ".join(parts)


def _head(points: tuple[Point, ...]) -> str:
    x, y = points[-1]
    sideways = len(points) > 1 and points[-2][1] == y
    wings = ((x + 2 * ARROW, y - ARROW), (x + 2 * ARROW, y + ARROW))
    if not sideways:
        wings = ((x - ARROW, y - 2 * ARROW), (x + ARROW, y - 2 * ARROW))
    return f"M{_at((x, y))} L{_at(wings[0])} L{_at(wings[1])} Z"


def _cut(text: str, limit: int) -> str:
    return Truncator(text).chars(limit)


def _text(x: float, y: float, text: str) -> Text:
    return Text(_number(x), _number(y), text)


def _at(point: Point) -> str:
    return " ".join(map(_number, point))


def _number(value: float) -> str:
    """As SVG wants it, in every language."""
    return f"{value:.1f}".removesuffix(".0")
