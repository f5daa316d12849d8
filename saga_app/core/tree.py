"""Where a node stands in the tree of a saga, and what a path says about it.

Only loops add to a path: `line[3]/pack` is the step `pack` in the turn 3 of the loop `line`. A record's own name is the
last part; the condition of a turn has that turn's path without the slash, as in `again[2]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from saga_app.core.nodes import ForEach, Loop, Node, Parallel, Pivot, Repeat, Try, While, blocks, called
from saga_app.core.steps import Step

if TYPE_CHECKING:
    from saga_app.core.saga import Saga

Lane: TypeAlias = tuple[str, str | None]
"""A concurrent group, and the branch in it; None where each turn of a ForEach is one."""


def name_of(path: str) -> str:
    """The name of the node whose record has this path."""
    return path.rpartition("/")[2].partition("[")[0]


def prefix_of(path: str) -> str:
    """What stands before the name: the turns around it, "" where there are none."""
    before, slash, _ = path.rpartition("/")
    return before + slash


def turns_of(path: str) -> Mapping[str, int]:
    """Loop → turn, outermost first; of a condition its own loop's too."""
    found = {}
    for part in path.split("/"):
        name, bracket, rest = part.partition("[")
        if bracket:
            found[name] = int(rest.removesuffix("]"))
    return MappingProxyType(found)


def join(prefix: str, name: str, turn: int | None = None) -> str:
    """The path of a node; with a turn, that of a loop's condition."""
    return f"{prefix}{name}" if turn is None else f"{prefix}{name}[{turn}]"


def inside(prefix: str, loop: str, turn: int) -> str:
    """The prefix of everything in one turn of a loop."""
    return f"{prefix}{loop}[{turn}]/"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node stands."""

    node: Node
    step: Step[..., Any] | None
    """What is called there: a step, or what a node chooses with."""
    loops: tuple[Loop, ...] = ()
    """The loops around it, outermost first."""
    lanes: tuple[Lane, ...] = ()
    """The concurrent groups around it, outermost first: two nodes in different lanes of one group are independent."""
    top: int = 0
    """Which of the saga's own nodes it is, or is in."""
    depths: tuple[int, ...] = ()
    """For each lane: how many loops are around its group."""


def places(nodes: Iterable[Node]) -> dict[str, Place]:
    """Name → place, of every node that has records. Parallel, Try and Pivot have none."""
    found: dict[str, Place] = {}
    taken: dict[str, int] = {}
    for top, one in enumerate(nodes):
        _visit((one,), Place(one, None, top=top), found, taken)
    return found


def lanes_of(place: Place, path: str) -> tuple[tuple[str, str], ...]:
    """The lanes of one record: each group with the turns around it, and the branch or the number of the item."""
    parts = path.split("/")
    found = []
    for (group, label), depth in zip(place.lanes, place.depths, strict=True):
        prefix = "".join(f"{part}/" for part in parts[:depth])
        found.append((prefix + group, str(turns_of(parts[depth])[group]) if label is None else label))
    return tuple(found)


def independent(saga: Saga[Any], one: str, other: str) -> bool:
    """Whether two records stand in different branches of one concurrent group, so that neither follows the other."""
    places = saga.place(one), saga.place(other)
    if places[0] is None or places[1] is None or not places[0].lanes:
        return False
    lanes = dict(lanes_of(places[0], one))
    return any(lanes.get(group, lane) != lane for group, lane in lanes_of(places[1], other))


@dataclass(slots=True)
class _Lane:
    """Records in one lane, or outside of all: whether one of them stands there itself, and those in groups in it."""

    has_some: bool = False
    groups: dict[str, dict[str, _Lane]] = field(default_factory=dict)


class Ahead:
    """Records that come before others, unless these are independent of them: asked at once, however many there are."""

    def __init__(self, saga: Saga[Any] | None) -> None:
        """Where the saga is not known, nothing is independent of anything."""
        self._saga, self._outside = saga, _Lane()

    def add(self, path: str) -> None:
        """One more."""
        lane = self._outside
        for group, label in self._lanes(path):
            lane = lane.groups.setdefault(group, {}).setdefault(label, _Lane())
        lane.has_some = True

    def holds_back(self, path: str) -> bool:
        """Whether one of them is not independent of the record at that path."""
        lane = self._outside
        for group, label in self._lanes(path):
            if lane.has_some or any(other != group for other in lane.groups):
                return True
            inner = lane.groups.get(group, {}).get(label)
            if inner is None:
                return False
            lane = inner
        return lane.has_some or bool(lane.groups)

    def _lanes(self, path: str) -> tuple[tuple[str, str], ...]:
        place = self._saga.place(path) if self._saga is not None else None
        return lanes_of(place, path) if place is not None and place.lanes else ()


def last_names(row: Sequence[Node]) -> frozenset[str]:
    """The nodes of a row after which nothing may be left to do in it: its last, and the last of what is in that."""
    if not row:
        return frozenset()
    last = row[-1]
    own = set() if isinstance(last, Parallel | Try | Pivot) else {last.name}
    return frozenset(own).union(*(last_names(inner) for _, inner in blocks(last)))


def _visit(row: Iterable[Node], around: Place, found: dict[str, Place], taken: dict[str, int]) -> None:
    for node in row:
        here = Place(node, called(node), around.loops, around.lanes, around.top, around.depths)
        if not isinstance(node, Parallel | Try | Pivot):
            found[node.name] = here
        group = _group(node, taken)
        for label, inner in blocks(node):
            _visit(inner, _within(here, node, group, label), found, taken)


def _group(node: Node, taken: dict[str, int]) -> str:
    """What a concurrent group is called in lanes; two Parallels of one name are two groups. "" for no group."""
    if isinstance(node, ForEach):
        return node.name if node.concurrency > 1 else ""
    if not isinstance(node, Parallel):
        return ""
    taken[node.name] = taken.get(node.name, 0) + 1
    return f"{node.name}:{taken[node.name]}"


def _within(here: Place, node: Node, group: str, label: str) -> Place:
    """The place of what stands in one block of a node."""
    lanes, depths, loops = here.lanes, here.depths, here.loops
    if group:
        lanes = (*lanes, (group, None if isinstance(node, ForEach) else label))
        depths = (*depths, len(loops))
    if isinstance(node, While | Repeat | ForEach):
        loops = (*loops, node)
    return Place(node, None, loops, lanes, here.top, depths)
