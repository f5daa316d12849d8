"""Classes by name: `shop.sagas:PlaceOrder`. Only what can be imported again is given a name."""

from __future__ import annotations

import importlib
from typing import Any


def name_of(cls: type) -> str:
    """The name under which another process finds the class. ValueError with the reason when there is none."""
    name = f"{cls.__module__}:{cls.__qualname__}"
    if "<" in name:
        raise ValueError(f"{cls.__qualname__} is defined inside a function: move it to the top of a module")
    if cls.__module__ == "__main__":
        raise ValueError(f"{cls.__qualname__} is defined in the script that runs: move it to a module of its own")
    try:
        found = find(name)
    except LookupError as error:
        raise ValueError(str(error)) from None
    if found is not cls:
        raise ValueError(f"{name} names something else: give the class the name it is imported by")
    return name


def find(name: str) -> Any:
    """What a name means. LookupError with the reason when it means nothing (any more)."""
    module, _, path = name.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except Exception as error:
        raise LookupError(f"{name} cannot be imported: {type(error).__name__}") from error
    return found


def find_class(name: str, base: type = object) -> Any:
    found = find(name)
    fits = isinstance(found, type) and issubclass(found, base)
    if not fits:
        raise LookupError(f"{name} is no {base.__name__} any more")
    return found
