"""A small interpreter of paths: runs a tree of nodes along drawn ways, and notes what exists by name at each call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

from saga_app.core.nodes import (
    Approval,
    Branch,
    Child,
    ForEach,
    If,
    Node,
    Parallel,
    Repeat,
    Sleep,
    Step,
    Try,
    Wait,
    While,
    blocks,
)
from saga_app.core.snapshot import Record

TURNS = 3

#: Name → path of the record whose output it means.
Env = dict[str, str]


class Fails(Exception):
    """A node has failed for good."""


@dataclass(frozen=True)
class Visit:
    """One call of a run: what existed by name when it was made, and how many records there were."""

    name: str
    path: str
    env: Env
    items: tuple[str, ...]
    known: int


@dataclass
class Run:
    """One run. `env` is what exists by name, kept the simple way: each loop and each branch has a copy of its own."""

    draw: st.DrawFn
    records: list[Record] = field(default_factory=list)
    visits: list[Visit] = field(default_factory=list)
    over: set[str] = field(default_factory=set)
    """The loops that came to their end, and everything else."""
    caught: int = 0

    def begin(self, nodes: Sequence[Node]) -> Env | None:
        """Run them; what exists at the end, or None when it failed on its way."""
        env: Env = {}
        try:
            self.row(nodes, "", env, ())
        except Fails:
            return None
        return env

    def row(self, nodes: Sequence[Node], prefix: str, env: Env, items: tuple[str, ...]) -> None:
        for node in nodes:
            self.node(node, prefix, env, items)

    def node(self, node: Node, prefix: str, env: Env, items: tuple[str, ...]) -> None:
        match node:
            case Branch() | If():
                self.visit(node, f"{prefix}{node.name}", env, items, gives=True)
                self.row(node.paths[self.draw(st.sampled_from(sorted(node.paths)))], prefix, env, items)
            case Try():
                self.try_(node, prefix, env, items)
            case Parallel():
                self.parallel(node, prefix, env, items)
            case While() | Repeat():
                self.turning(node, prefix, env, items)
            case ForEach():
                self.for_each(node, prefix, env, items)
            case Wait() | Approval():
                self.gate(node, prefix, env, items)
            case Step() | Child() | Sleep():
                self.leaf(node, prefix, env, items)

    def turning(self, node: While | Repeat, prefix: str, env: Env, items: tuple[str, ...]) -> None:
        for turn in range(TURNS):
            path = f"{prefix}{node.name}[{turn}]"
            if isinstance(node, Repeat):
                self.row(node.body, f"{path}/", env, items)
            self.visit(node, path, env, items, gives=True)
            if turn == TURNS - 1 or self.draw(st.booleans()):
                return
            if isinstance(node, While):
                self.row(node.body, f"{path}/", env, items)

    def visit(self, node: Node, path: str, env: Env, items: tuple[str, ...], *, gives: bool) -> None:
        """A call is made, and its record begins; what it gives is not yet among the names."""
        self.visits.append(Visit(node.name, path, dict(env), items, len(self.records)))
        text = "1" if gives else None
        if not isinstance(node, ForEach):
            self.over.add(path)
        self.records.append(Record(seq=len(self.records), path=path, name=node.name, output_text=text))

    def leaf(self, node: Node, prefix: str, env: Env, items: tuple[str, ...]) -> None:
        path = f"{prefix}{node.name}"
        optional = isinstance(node, Step) and not node.required
        fails = (optional or bool(self.caught)) and self.draw(st.booleans())
        self.visit(node, path, env, items, gives=not fails)
        if fails and not optional:
            raise Fails(path)
        if not fails and not isinstance(node, Sleep):
            env[node.provides] = path

    def try_(self, node: Try, prefix: str, env: Env, items: tuple[str, ...]) -> None:
        self.caught += 1
        try:
            self.row(node.body, prefix, env, items)
        except Fails:
            self.caught -= 1
            self.row(node.recover, prefix, env, items)
        else:
            self.caught -= 1

    def parallel(self, node: Parallel, prefix: str, env: Env, items: tuple[str, ...]) -> None:
        """One after the other, which is one of the ways in which they may be interleaved. All end before it fails."""
        failed: list[Fails] = []
        before = dict(env)
        for label, row in node.branches.items():
            others = {name for other, each in node.branches.items() if other != label for name in outward(each)}
            own = {name: path for name, path in before.items() if name not in others}
            try:
                self.row(row, prefix, own, items)
            except Fails as one:
                failed.append(one)
            env |= {name: own[name] for name in outward(row) if name in own}
        if failed:
            raise failed[0]

    def for_each(self, node: ForEach, prefix: str, env: Env, items: tuple[str, ...]) -> None:
        path = f"{prefix}{node.name}"
        self.visit(node, path, env, items, gives=True)
        for turn in range(self.draw(st.integers(0, TURNS - 1))):
            inside = {name: value for name, value in env.items() if name != node.name}  # in there, it is the item
            self.row(node.body, f"{path}[{turn}]/", inside, (node.name, *items))
        self.over.add(path)
        env[node.provides] = path

    def gate(self, node: Wait | Approval, prefix: str, env: Env, items: tuple[str, ...]) -> None:
        path = f"{prefix}{node.name}"
        ways = dict(node.blocks())
        way = self.draw(st.sampled_from(["", *ways, *(["fails"] if self.caught else [])]))
        opens = way in {"", "reject"}
        self.visit(node, path, env, items, gives=opens)
        if opens:
            env[node.provides] = path
        if way == "fails":
            raise Fails(path)
        self.row(ways.get(way, ()), prefix, env, items)


def outward(nodes: Sequence[Node]) -> Iterator[str]:
    """What these nodes provide to those behind them."""
    for node in nodes:
        if node.provides:
            yield node.provides
        if not isinstance(node, ForEach):
            for _, row in blocks(node):
                yield from outward(row)
