"""Names: which are allowed, which are taken by the house, and which one was probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from saga_app.core.errors import DefinitionError

#: What a parameter of these names means is fixed, so nothing else may be called so.
RESERVED = frozenset({"ctx", "result", "error", "input", "iteration", "index", "key", "actor"})

#: The columns that keep names are this wide.
LONGEST = 100


def check_saga_name(name: object) -> str:
    """The name of a saga, or DefinitionError."""
    return _check(name, "the name of a saga", "-.", "letters, digits, `.`, `-` and `_`", "place-order")


def check_step_name(name: object, what: str = "the name of a step") -> str:
    """The name of a step, which is also its path: no `/`, `[`, `:` or leading digit, which paths use."""
    text = _check(name, what, "-", "letters, digits, `-` and `_`, not beginning with a digit", "charge_card")
    if text.startswith("__"):
        raise DefinitionError(f"{what} is {text!r}: names that begin with two underscores are taken; leave them out")
    return text


def check_provided(name: object, where: str) -> str:
    """The name under which an output is visible, or DefinitionError."""
    text = check_step_name(name, f"{where}: the name it provides")
    if text in RESERVED:
        raise DefinitionError(
            f"{where} provides `{text}`, a word that always means something else "
            f'({", ".join(sorted(RESERVED))}): write provides="{text}_value" or the like'
        )
    return text


def closest(name: str, known: Iterable[str]) -> str:
    """The name that was probably meant, or ""."""
    return next(iter(get_close_matches(name, sorted(set(known)), n=1, cutoff=0.6)), "")


def nearest(name: str, known: Iterable[str]) -> str:
    """A sentence that helps whoever wrote `name`: the one probably meant, else what there is."""
    names = sorted(set(known))
    meant = closest(name, names)
    if meant:
        return f"Did you mean `{meant}`?"
    if not names:
        return "There is none at all."
    shown = ", ".join(f"`{one}`" for one in names[:12])
    return f"There is {shown}{' and more' if len(names) > 12 else ''}."  # noqa: PLR2004 - a line's worth


def _check(name: object, what: str, joints: str, cure: str, example: str) -> str:
    if not isinstance(name, str):
        raise DefinitionError(f'{what} is {name!r}: write text, as in "{example}"')
    if not name.translate(dict.fromkeys(map(ord, joints), "_")).isidentifier() or name[0] in joints:
        raise DefinitionError(f"{what} is {name!r}: write {cure}, as in {example}")
    if len(name) > LONGEST:
        raise DefinitionError(f"{what} has {len(name)} characters, {name[:20]!r}…: write at most {LONGEST}")
    return name
