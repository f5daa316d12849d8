"""ref("path"): a value that is not there yet, named where the saga is written and read when it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from saga_app.core.errors import DefinitionError


@dataclass(frozen=True, slots=True)
class Ref:
    """A name (`head`) and the way into its value (`keys`)."""

    path: str
    head: str
    keys: tuple[str, ...]

    def __repr__(self) -> str:
        """As it is written."""
        return f'ref("{self.path}")'


def ref(path: str) -> Ref:
    """A name and the way into it: what an earlier node provides, a loop's item, or the input.

    `ref("charge_id")`, `ref("order.lines.0")`; in the loop of that name `ref("line.sku")`; `ref("input.total")`.
    """
    head, *keys = _text(path).split(".")
    if not head or not all(keys):
        raise DefinitionError(f"ref({path!r}): a part between two dots is empty")
    if any(key.startswith("_") for key in keys):
        raise DefinitionError(f"ref({path!r}): private attributes are not read; give a callable to bind() instead")
    return Ref(path, head, tuple(keys))


def _text(path: object) -> str:
    if isinstance(path, str) and path:
        return path
    raise DefinitionError(f'ref({path!r}): write a path, as in ref("charge_id") or ref("input.total")')


def walk(value: Any, keys: Sequence[str], path: str) -> Any:
    """Into a value, key by key: an item of a mapping, an element of a list by number, else an attribute."""
    for key in keys:
        try:
            value = _one(value, key)
        except (LookupError, AttributeError):
            raise DefinitionError(
                f'ref("{path}"): a value of type {type(value).__name__} has no `{key}`; look at what provides it'
            ) from None
    return value


def _one(value: Any, key: str) -> Any:
    if isinstance(value, Mapping):
        return value[key]
    if isinstance(value, Sequence) and key.isdecimal():
        return value[int(key)]
    return getattr(value, key)
