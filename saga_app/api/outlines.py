"""The nodes of a saga as JSON: what is called, how hard it is tried, what undoes it, what is inside."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from saga_app.core.nodes import Approval, Child, Node, Step, Wait, blocks, called
from saga_app.core.policy import Policy


def outline(nodes: Iterable[Node]) -> list[dict[str, Any]]:
    """The nodes one after the other, the rows inside one in its `blocks`."""
    return [_node(node) for node in nodes]


def _node(node: Node) -> dict[str, Any]:
    step = called(node)
    return {
        "kind": "compute" if isinstance(node, Step) and node.pure else node.kind,
        "name": node.name,
        "title": step.title if step else "",
        "calls": _called(step) if step else None,
        "child": node.target.name if isinstance(node, Child) else None,
        "gate": _gate(node) if isinstance(node, Wait | Approval) else None,
        "blocks": [{"label": label, "nodes": outline(row)} for label, row in blocks(node) if row],
    }


def _called(step: Step[..., Any]) -> dict[str, Any]:
    return {
        **_tries(step.policy),
        "atomic": step.atomic,
        "required": step.required,
        "queue": step.queue or "",
        "compensation": _tries(step.compensation.policy) if step.compensation and step.compensated else None,
        "reconciles": step.reconciler is not None,
    }


def _tries(policy: Policy) -> dict[str, Any]:
    return {"attempts": policy.attempts, "timeout": policy.timeout}


def _gate(node: Wait | Approval) -> dict[str, Any]:
    permission = node.permission if isinstance(node, Approval) else None
    return {"timeout": node.timeout, "permission": permission}
