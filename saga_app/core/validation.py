"""What makes a saga runnable: its shape, its names, and what each step can see from its place."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from saga_app.core.binding import Scope
from saga_app.core.errors import DefinitionError
from saga_app.core.names import RESERVED
from saga_app.core.nodes import Node, Pivot
from saga_app.core.steps import Step


def check_shape(where: str, nodes: Sequence[Node]) -> None:
    """At least one step, one pivot at most, no name twice and nothing provided twice."""
    steps = steps_of(nodes)
    if not steps:
        raise DefinitionError(f"{where} has no steps: write Saga(…, first_step, second_step)")
    if sum(isinstance(one, Pivot) for one in nodes) > 1:
        raise DefinitionError(f"{where} has more than one Pivot(): past the first it only goes forward; leave one")
    _check_names(where, steps)
    _check_provided(where, steps)


def steps_of(nodes: Iterable[Node]) -> tuple[Step[..., Any], ...]:
    """The steps, in order."""
    return tuple(one for one in nodes if isinstance(one, Step))


def scopes_of(steps: Sequence[Step[..., Any]]) -> dict[str, Scope]:
    """Path → what the step there can see of the others: what stands before it, and in `later` what stands after."""
    scopes = {}
    outputs: dict[str, str] = {}
    maybe: frozenset[str] = frozenset()
    for position, one in enumerate(steps):
        later = {each.provides: each.name for each in steps[position + 1 :]}
        scopes[one.name] = Scope(dict(outputs), maybe, later)
        outputs[one.provides] = one.name
        if not one.required:
            maybe |= {one.provides}
    return scopes


def scope_at_end(steps: Sequence[Step[..., Any]]) -> Scope:
    """What `output=` can see."""
    return Scope(
        {one.provides: one.name for one in steps}, frozenset(one.provides for one in steps if not one.required)
    )


def check_input_names(where: str, names: Iterable[str], steps: Sequence[Step[..., Any]]) -> None:
    """No field of the input is a reserved word, or called like something a step provides."""
    provided = {one.provides: one.name for one in steps}
    for name in names:
        if name in RESERVED:
            raise DefinitionError(
                f"{where}: its input has a field `{name}`, a word that always means something else "
                f"({', '.join(sorted(RESERVED))}): give it another name"
            )
        if name in provided:
            step = provided[name]
            raise DefinitionError(
                f"{where}: `{name}` is a field of its input and is provided by step `{step}` too, so nobody can tell "
                f'which is meant: rename the field, or write {_word(step)}.named(provides="{name}_of_{_word(step)}")'
            )


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


def _check_provided(where: str, steps: Sequence[Step[..., Any]]) -> None:
    seen: dict[str, str] = {}
    for one in steps:
        other = seen.setdefault(one.provides, one.name)
        if other != one.name:
            cure = f'{_word(one.name)}.named(provides="{one.provides}_of_{_word(one.name)}")'
            raise DefinitionError(
                f"{where}: `{one.provides}` is provided by step `{other}` and by step `{one.name}`: "
                f"give one of them another name, as in {cure}"
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
    if isinstance(node, Pivot):
        return {"kind": node.kind}
    return {
        "kind": node.kind,
        "name": node.name,
        "provides": node.provides,
        "atomic": node.atomic,
        "required": node.required,
        "compensation": node.compensation is not None and node.compensated,
        "reconcile": node.reconciler is not None,
    }
