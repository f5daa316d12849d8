"""The nodes of a saga, as data: steps, and the control flow between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from saga_app.core.approvals import Approval
from saga_app.core.blocks import as_nodes
from saga_app.core.children import Child
from saga_app.core.choices import Branch, If
from saga_app.core.computes import Compute
from saga_app.core.gates import Sleep, Wait
from saga_app.core.groups import Parallel, Try
from saga_app.core.loops import ForEach, Repeat, While
from saga_app.core.marks import Milestone, Pivot
from saga_app.core.steps import Step

__all__ = [
    "Approval",
    "Branch",
    "Child",
    "Compute",
    "ForEach",
    "Gate",
    "If",
    "Loop",
    "Milestone",
    "Node",
    "Parallel",
    "Pivot",
    "Repeat",
    "Sleep",
    "Step",
    "Try",
    "Wait",
    "While",
    "as_nodes",
    "blocks",
    "called",
    "walk",
]

Loop: TypeAlias = While | Repeat | ForEach
Gate: TypeAlias = Wait | Approval | Sleep
Node: TypeAlias = (
    Step[..., Any] | Pivot | Milestone | Branch | If | While | Repeat | ForEach | Parallel | Try | Child | Wait
    | Approval | Sleep
)  # fmt: skip


def blocks(node: Node) -> list[tuple[str, tuple[Node, ...]]]:
    """The rows of nodes inside a node, each with its label; none in a step."""
    return [] if isinstance(node, Step) else node.blocks()


def walk(nodes: Iterable[Node]) -> Iterator[Node]:
    """Every node, those inside others too, in the order in which they are written."""
    for one in nodes:
        yield one
        for _, row in blocks(one):
            yield from walk(row)


def called(node: Node) -> Step[..., Any] | None:
    """The step that is called under the name of a node: a step itself, or what a node chooses with."""
    match node:
        case Step():
            return node
        case Branch() | If():
            return node.chooser
        case While() | Repeat():
            return node.condition
        case ForEach():
            return node.items
    return None
