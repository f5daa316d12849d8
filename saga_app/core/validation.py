"""What makes a saga runnable: its shape and its names."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from saga_app.core.errors import DefinitionError
from saga_app.core.nodes import Child, ForEach, Node, Pivot, Wait, blocks, walk
from saga_app.core.scopes import check_providers
from saga_app.core.steps import Step


def check_shape(where: str, nodes: Sequence[Node]) -> None:
    """At least one step, one pivot at most, no name twice and nothing provided twice."""
    steps = steps_of(nodes)
    if not steps:
        raise DefinitionError(f"{where} has no steps: write Saga(…, first_step, second_step)")
    if sum(isinstance(one, Pivot) for one in nodes) > 1:
        raise DefinitionError(f"{where} has more than one Pivot(): past the first it only goes forward; leave one")
    _check_names(where, steps)
    check_providers(where, steps)


def steps_of(nodes: Iterable[Node]) -> tuple[Step[..., Any], ...]:
    """The steps, in the order in which they are written; none that merely computes."""
    return tuple(one for one in walk(nodes) if isinstance(one, Step) and not one.pure)


def _check_names(where: str, steps: Sequence[Step[..., Any]]) -> None:
    seen: dict[str, Step[..., Any]] = {}
    for one in steps:
        if one.name not in seen:
            seen[one.name] = one
            continue
        other = seen[one.name]
        again = f"{_word(one.name)}_again"
        if other.bodies is one.bodies:
            raise DefinitionError(
                f"{where} uses step `{one.name}` twice, and each use needs a name of its own: "
                f'write {_word(one.name)}.named("{again}")'
            )
        raise DefinitionError(
            f"{where} has two steps called `{one.name}` ({_home(other)} and {_home(one)}): "
            f'name one of them, as in {_word(one.name)}.named("{again}")'
        )


def _home(step: Step[..., Any]) -> str:
    function = step.function
    return f"{getattr(function, '__module__', '?')}.{getattr(function, '__qualname__', step.name)}"


def _word(name: str) -> str:
    return name.replace("-", "_")


def fingerprint_of(nodes: Sequence[Node]) -> str:
    """The shape as a hash: what decides whether records of earlier code still mean the same."""
    return hashlib.sha256(json.dumps([_shape(one) for one in nodes], sort_keys=True).encode()).hexdigest()


def _shape(node: Node) -> Mapping[str, object]:
    """What a node is, with all that is in it. Not what may change under way: policies, limits, times and queues."""
    shape: dict[str, object] = {"kind": node.kind}
    if node.name:
        shape |= {"name": node.name, "provides": node.provides}
    if isinstance(node, Step):
        shape |= {
            "atomic": node.atomic,
            "required": node.required,
            "compensation": node.compensation is not None and node.compensated,
            "reconcile": node.reconciler is not None,
        }
    if isinstance(node, ForEach):
        shape["concurrent"] = node.concurrency > 1
    if isinstance(node, Wait):
        shape["signal"] = node.signal
    if isinstance(node, Child):
        shape |= {"saga": node.saga if isinstance(node.saga, str) else node.saga.name, "compensation": node.compensated}
    inner = blocks(node)
    if inner:
        shape["blocks"] = [[label, [_shape(one) for one in row]] for label, row in inner]
    return shape
