"""Scopes: what each step can see from its place, by name, and that no name means two things."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from saga_app.core.binding import Scope
from saga_app.core.errors import DefinitionError
from saga_app.core.names import RESERVED
from saga_app.core.steps import Step


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


def check_providers(where: str, steps: Sequence[Step[..., Any]]) -> None:
    """Nothing is provided twice."""
    seen: dict[str, str] = {}
    for one in steps:
        other = seen.setdefault(one.provides, one.name)
        if other != one.name:
            cure = f'{_word(one.name)}.named(provides="{one.provides}_of_{_word(one.name)}")'
            raise DefinitionError(
                f"{where}: `{one.provides}` is provided by step `{other}` and by step `{one.name}`: "
                f"give one of them another name, as in {cure}"
            )


def _word(name: str) -> str:
    return name.replace("-", "_")
