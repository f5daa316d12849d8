"""A function in the place of a step's body, called with what it has parameters for."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from saga_app.core.signatures import is_async


def standing_in(body: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, called as the body is called, with what it has parameters for."""
    signature, wanted = inspect.signature(body), inspect.signature(function).parameters.values()
    open_ended = any(one.kind is one.VAR_KEYWORD for one in wanted)
    names = {one.name for one in wanted if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)}
    needed = {one.name for one in wanted if one.name in names and one.default is one.empty}
    if strange := needed - set(signature.parameters):
        raise TypeError(f"the function wants {', '.join(sorted(strange))}, which the step does not have")

    def chosen(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        given = signature.bind(*args, **kwargs).arguments
        return given if open_ended else {name: value for name, value in given.items() if name in names}

    if is_async(function):

        @wraps(body)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            return await function(**chosen(args, kwargs))

        return awaited

    @wraps(body)
    def called(*args: Any, **kwargs: Any) -> Any:
        return function(**chosen(args, kwargs))

    return called
