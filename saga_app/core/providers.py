"""Providers: which nodes provide what, over the whole tree, and that no name means two things.

One name may have several providers where no run comes to more than one of them, or where the later one stands in for
the earlier: on the ways of a Branch or an If, in the body and the recover of a Try, and in what a gate does instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from saga_app.core.errors import DefinitionError
from saga_app.core.names import RESERVED
from saga_app.core.nodes import (
    Approval,
    Branch,
    Child,
    ForEach,
    If,
    Milestone,
    Node,
    Parallel,
    Pivot,
    Sleep,
    Step,
    Try,
    Wait,
    blocks,
    walk,
)

#: Name → the nodes that provide it, in the order in which they are written.
Provided: TypeAlias = dict[str, tuple[Node, ...]]


def provided_by(nodes: Iterable[Node]) -> Provided:
    """What can be read behind these nodes by its name. What the body of a ForEach provides is its own affair."""
    found: Provided = {}
    for node in nodes:
        if node.provides and not (isinstance(node, ForEach) and not last_of(node.body)):
            found[node.provides] = (*found.get(node.provides, ()), node)
        if not isinstance(node, ForEach):
            for _, row in blocks(node):
                for name, providers in provided_by(row).items():
                    found[name] = (*found.get(name, ()), *providers)
    return found


def inside_loops(nodes: Iterable[Node]) -> Iterator[tuple[ForEach, set[str]]]:
    """The ForEach loops among these nodes that are in no other one, each with all names that mean something in it."""
    for node in nodes:
        if isinstance(node, ForEach):
            inner = list(walk(node.body))
            items = {one.name for one in inner if isinstance(one, ForEach)}
            yield node, items | {one.provides for one in inner if one.provides}
        else:
            for _, row in blocks(node):
                yield from inside_loops(row)


def last_of(nodes: Sequence[Node]) -> tuple[str, ...]:
    """The names of the nodes one of which runs last in a row and leaves something; none where nothing does.

    That one's output is what a turn of a ForEach comes to. What never provides anything is looked past.
    """
    for node in reversed(nodes):
        match node:
            case Pivot() | Milestone() | Sleep():
                continue
            case Parallel():
                return ()
            case Step() | Child() | ForEach():
                return (node.name,)
            case Wait() | Approval():
                return (node.name, *_last_of_blocks(node))
            case _:
                return _last_of_blocks(node)
    return ()


def _last_of_blocks(node: Node) -> tuple[str, ...]:
    return tuple(name for _, row in blocks(node) for name in last_of(row))


@dataclass(frozen=True, slots=True)
class Readable:
    """What can be read of an execution by name, whatever its place.

    Attributes:
        names: name → the nodes that provide it.
        lists: loop → the nodes one of which leaves what a turn comes to: its list is made of them when it is read.
        homes: node → the innermost ForEach around it, if any; it is seen in the same turn of it alone.
        breakable: the loops in the body of a Try: such a one may have failed, and the saga gone on.
    """

    names: Mapping[str, tuple[str, ...]]
    lists: Mapping[str, tuple[str, ...]]
    homes: Mapping[str, str]
    breakable: frozenset[str]


def readable(nodes: Sequence[Node]) -> Readable:
    """The same of a whole saga."""
    names: dict[str, tuple[str, ...]] = {}
    for node in walk(nodes):
        if node.provides:
            names[node.provides] = (*names.get(node.provides, ()), node.name)
    loops = [node for node in walk(nodes) if isinstance(node, ForEach)]
    tried = [one for node in walk(nodes) if isinstance(node, Try) for one in walk(node.body)]
    return Readable(
        names=names,
        lists={node.name: last_of(node.body) for node in loops},
        homes=dict(_homes(nodes, "")),
        breakable=frozenset(node.name for node in tried if isinstance(node, ForEach)),
    )


def _homes(nodes: Iterable[Node], home: str) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if home and node.name:
            yield node.name, home
        inner = node.name if isinstance(node, ForEach) else home
        for _, row in blocks(node):
            yield from _homes(row, inner)


# No name means two things


@dataclass(frozen=True, slots=True)
class _Claim:
    """A node that gives a name its meaning: by what it provides, or as a loop whose item is called so."""

    node: Node
    item: bool = False

    @property
    def title(self) -> str:
        """As in a sentence about what provides it."""
        return f"is the item of loop `{self.node.name}`" if self.item else f"is provided by {self.node.shown}"


def check_providers(where: str, nodes: Iterable[Node]) -> None:
    """Nothing is provided twice, but on ways of which only one is gone; nothing is called like a loop's item."""
    _claims(where, nodes)


def _claims(where: str, nodes: Iterable[Node]) -> dict[str, _Claim]:
    return _apart(where, (_claims_of(where, node) for node in nodes))


def _claims_of(where: str, node: Node) -> dict[str, _Claim]:
    rows = [_claims(where, row) for _, row in blocks(node)]
    own = {node.provides: _Claim(node)} if node.provides else {}
    if isinstance(node, ForEach):
        own = own if node.provides == node.name else _apart(where, [{node.name: _Claim(node, item=True)}, own])
    if isinstance(node, Branch | If | Try | Wait | Approval):
        return {name: claim for each in (own, *rows) for name, claim in each.items()}
    return _apart(where, [own, *rows])


def _apart(where: str, each: Iterable[Mapping[str, _Claim]]) -> dict[str, _Claim]:
    found: dict[str, _Claim] = {}
    for claims in each:
        for name, claim in claims.items():
            if name in found and found[name].node is not claim.node:
                raise DefinitionError(_clash(where, name, found[name], claim))
            found[name] = claim
    return found


def _clash(where: str, name: str, one: _Claim, other: _Claim) -> str:
    loop = next((each.node for each in (other, one) if each.item), None)
    if loop is not None:
        return (
            f"{where}: `{name}` {one.title} and {other.title}: "
            f'call the loop otherwise, as in ForEach("one_{word(name)}", …)'
        )
    again = f"{name}_of_{word(other.node.name)}"
    also = other.title.removeprefix("is provided ")
    return (
        f"{where}: `{name}` {one.title} and {also}: "
        f'give one of them another name, as in {variable(other.node)}.named(provides="{again}")'
    )


def check_input_names(where: str, names: Iterable[str], nodes: Sequence[Node]) -> None:
    """No field of the input is a reserved word, or called like something a node provides, or like an item."""
    claims = _claims(where, nodes)
    for name in names:
        if name in RESERVED:
            raise DefinitionError(
                f"{where}: its input has a field `{name}`, a word that always means something else "
                f"({', '.join(sorted(RESERVED))}): give it another name"
            )
        if name in claims:
            raise DefinitionError(_ambiguous(where, name, claims[name].node))


def _ambiguous(where: str, name: str, node: Node) -> str:
    if isinstance(node, ForEach) and node.name == name:
        singular = name.removesuffix("s") if name.endswith("s") else f"one_{name}"
        return (
            f"{where}: `{name}` is a field of its input and is the item of loop `{node.name}` too, so nobody can tell "
            f'which is meant: call the loop after one of its items, as in ForEach("{singular}", ref("input.{name}"), …)'
        )
    return (
        f"{where}: `{name}` is a field of its input and is provided by {node.shown} too, so nobody can tell which "
        f"is meant: rename the field, or write "
        f'{variable(node)}.named(provides="{name}_of_{word(node.name)}")'
    )


def variable(node: Node) -> str:
    """A node as it may stand in a line of code: a step by its name, anything else by its word."""
    if isinstance(node, Step):
        return "Compute(…)" if node.pure else word(node.name)
    return f"{type(node).__name__}(…)"


def word(name: str) -> str:
    """A name as part of a line of code."""
    return name.replace("-", "_")
