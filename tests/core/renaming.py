"""The same nodes with one of them under another name: what a deploy may do to a saga."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from saga_app.core.nodes import (
    Approval,
    Branch,
    ForEach,
    If,
    Node,
    Parallel,
    Repeat,
    Try,
    Wait,
    While,
)
from saga_app.core.steps import Step

Row = tuple[Node, ...]


def renamed(nodes: Iterable[Node], old: str, new: str) -> Row:
    """The nodes, those inside others too, with that one renamed."""
    return tuple(_named(_inside(one, old, new), old, new) for one in nodes)


def _named(node: Node, old: str, new: str) -> Node:
    if node.name != old:
        return node
    if isinstance(node, Step):
        return replace(node, name=new)
    return node.named(new)


def _inside(node: Node, old: str, new: str) -> Node:
    match node:
        case Branch() | If():
            return node.but(paths={label: renamed(row, old, new) for label, row in node.paths.items()})
        case While() | Repeat() | ForEach():
            return node.but(body=renamed(node.body, old, new))
        case Parallel():
            return node.but(branches={label: renamed(row, old, new) for label, row in node.branches.items()})
        case Try():
            return node.but(body=renamed(node.body, old, new), recover=renamed(node.recover, old, new))
        case Wait() if isinstance(node.on_timeout, tuple):
            return node.but(on_timeout=renamed(node.on_timeout, old, new))
        case Approval() if isinstance(node.on_reject, tuple):
            return node.but(on_reject=renamed(node.on_reject, old, new))
    return node
