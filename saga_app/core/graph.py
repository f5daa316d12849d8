"""The graph of a saga: nodes, edges and nested groups as JSON values, for whoever draws it.

A node of a saga is a node here, under its name; a start, an end, and the join of each Parallel are added. An edge leads
from what is over to what comes next, so that every node is reached from the start and leads to the end. Nothing here
depends on anything but the saga: drawn twice it is equal, and it can be kept for when its code is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from saga_app.core.graph_labels import facts_of, group_label, lines_of, title_of
from saga_app.core.graph_labels import span as length
from saga_app.core.nodes import blocks

if TYPE_CHECKING:
    from saga_app.core.nodes import Approval, ForEach, Node, Parallel, Repeat, Try, Wait, While
    from saga_app.core.saga import Saga

START, END = "__start__", "__end__"  # names that begin so are the house's


@dataclass(frozen=True, slots=True)
class _Way:
    """An edge whose end is not drawn yet: it leads to whatever comes next."""

    source: str
    kind: str = "next"
    label: str = ""


@dataclass(slots=True)
class _Drawing:
    nodes: list[dict[str, Any]] = field(default_factory=list)
    edges: list[dict[str, str]] = field(default_factory=list)
    groups: list[dict[str, str | None]] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)

    def row(self, nodes: Iterable[Node], ways: list[_Way], group: str | None) -> list[_Way]:
        """Nodes one after the other; the ways that lead on from the last of them."""
        for node in nodes:
            ways = self._kinds.get(node.kind, _Drawing._plain)(self, node, ways, group)
        return ways

    def put(self, known_by: str, kind: str, title: str, group: str | None = None, **facts: Any) -> str:
        """A node; its id."""
        node: dict[str, Any] = {"id": known_by, "kind": kind, "name": "", "title": title, "lines": [], "group": group}
        self.nodes.append(node | facts)
        return known_by

    def join(self, ways: Iterable[_Way], target: str, kind: str = "") -> None:
        """Let the ways end at a node."""
        for way in ways:
            self.edges.append({"from": way.source, "to": target, "kind": kind or way.kind, "label": way.label})

    def _put(self, node: Node, group: str | None, ways: Iterable[_Way]) -> str:
        found = self._named(node)
        name = "" if found.startswith("__") else node.name
        facts = {"name": name, "lines": lines_of(node), **asdict(facts_of(node))}
        self.put(found, node.kind, title_of(node), group, **facts)
        self.join(ways, found)
        return found

    def _named(self, node: Node) -> str:
        """Its own name, where it has one that nothing else has; else its kind with a number."""
        name, number = node.name, 1
        while not name or name in self.taken or node.kind in ("parallel", "try", "pivot"):
            name = f"__{node.kind}_{number}__"
            if name not in self.taken:
                break
            number += 1
        self.taken.add(name)
        return name

    def _group(self, node: Node, parent: str | None) -> str:
        """What a node and all that is in it are drawn in."""
        return self._frame(node.kind, group_label(node), parent)

    def _frame(self, kind: str, label: str, parent: str | None) -> str:
        made = f"{kind}_{len(self.groups)}"
        self.groups.append({"id": made, "kind": kind, "label": label, "parent": parent})
        return made

    def _block(self, label: str, row: Iterable[Node], way: _Way, group: str) -> list[_Way]:
        """One of several rows inside a node, in a frame of its own; an empty one is the way alone."""
        nodes = tuple(row)
        return self.row(nodes, [way], self._frame("block", label, group)) if nodes else [way]

    def _sides(self, node: Node, here: str, group: str, kind: str) -> list[_Way]:
        """All rows of a node side by side; the ways that lead on from them."""
        return [way for label, row in blocks(node) for way in self._block(label, row, _Way(here, kind, label), group)]

    def _plain(self, node: Node, ways: list[_Way], group: str | None) -> list[_Way]:
        return [_Way(self._put(node, group, ways))]

    def _choice(self, node: Node, ways: list[_Way], group: str | None) -> list[_Way]:
        own = self._group(node, group)
        here = self._put(node, own, ways)
        return self._sides(node, here, own, "choice")

    def _while(self, node: While, ways: list[_Way], group: str | None) -> list[_Way]:
        own = self._group(node, group)
        here = self._put(node, own, ways)
        self.join(self.row(node.body, [_Way(here, "choice", "true")], own), here, "turn")
        return [_Way(here, "choice", "false")]

    def _repeat(self, node: Repeat, ways: list[_Way], group: str | None) -> list[_Way]:
        own, before = self._group(node, group), len(self.edges)
        here = self._put(node, own, self.row(node.body, ways, own))
        first = self.edges[before]["to"]  # whatever is first in its body is what the ways were joined to
        self.join([_Way(here, "turn", "false")], first)
        return [_Way(here, "choice", "true")]

    def _foreach(self, node: ForEach, ways: list[_Way], group: str | None) -> list[_Way]:
        own = self._group(node, group)
        here = self._put(node, own, ways)
        self.join(self.row(node.body, [_Way(here, "next", "each")], own), here, "turn")
        return [_Way(here, "next", "done")]

    def _parallel(self, node: Parallel, ways: list[_Way], group: str | None) -> list[_Way]:
        own = self._group(node, group)
        here = self._put(node, own, ways)
        ends = self._sides(node, here, own, "branch")
        joined = self.put(here.replace("__parallel", "__join"), "join", "", own)
        self.join(ends, joined)
        return [_Way(joined)]

    def _try(self, node: Try, ways: list[_Way], group: str | None) -> list[_Way]:
        own = self._group(node, group)
        here = self._put(node, own, ways)
        caught = ", ".join(dict.fromkeys(error.__name__ for error in node.catch))
        ends = self._block("try", node.body, _Way(here), own)
        return ends + self._block("recover", node.recover, _Way(here, "caught", caught), own)

    def _gate(self, node: Wait | Approval, ways: list[_Way], group: str | None) -> list[_Way]:
        inner = blocks(node)
        own = self._group(node, group) if inner else group
        here = self._put(node, own, ways)
        approval = node.kind == "approval"
        ends = [_Way(here, "next", "approved" if approval else "")]
        kinds = {"timeout": f"after {length(node.timeout or 0)}", "rejected": "rejected"}
        for label, row in inner:
            kind = "timeout" if label == "timeout" else "rejected"
            ends += self._block(label, row, _Way(here, kind, kinds[kind]), own or "")
        if getattr(node, "on_reject", "") == "continue":
            ends.append(_Way(here, "rejected", "rejected"))
        return ends

    _kinds: ClassVar[dict[str, Callable[[_Drawing, Any, list[_Way], str | None], list[_Way]]]] = {
        "branch": _choice,
        "if": _choice,
        "while": _while,
        "repeat": _repeat,
        "foreach": _foreach,
        "parallel": _parallel,
        "try": _try,
        "wait": _gate,
        "approval": _gate,
    }


def graph_of(saga: Saga[Any]) -> dict[str, Any]:
    """Nodes, edges and groups of a saga.

    Returns:
        `nodes`: id, kind, name, title, lines, group, and of the saga's own atomic, optional, compensated, queue, child;
        `edges`: from, to, kind (next, choice, turn, caught, timeout, rejected or branch), label;
        `groups`: id, kind, label, parent, each after the one it is in. A group or parent of None is the whole drawing.
    """
    drawing = _Drawing()
    drawing.put(START, "start", saga.title or saga.name, lines=[f"revision {saga.revision}"])
    ways = drawing.row(saga.nodes, [_Way(START)], None)
    drawing.join(ways, drawing.put(END, "end", "end"))
    return {
        "saga": saga.name,
        "revision": saga.revision,
        "title": saga.title,
        "nodes": drawing.nodes,
        "edges": drawing.edges,
        "groups": drawing.groups,
    }
