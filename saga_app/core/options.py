"""What may be written in `@step(…)`, `.compensate(…)` and `.bind(…)`, refused with what to write instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from saga_app.core.errors import DefinitionError
from saga_app.core.names import LONGEST, check_step_name, nearest
from saga_app.core.signatures import Parameter, check_callable, is_async, parameters_of

#: More turns or items than this is a slip of the pen.
MOST = 1_000_000


def flag(value: object, what: str) -> bool:
    """True or False, and nothing that merely counts as one of them."""
    if not isinstance(value, bool):
        raise DefinitionError(f"{what} is {value!r}: write True or False")
    return value


def count(value: object, what: str) -> int:
    """A whole number of at least 1."""
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MOST:
        raise DefinitionError(f"{what} is {value!r}: write a whole number from 1 to {MOST}")
    return value


def queue_name(value: object, what: str) -> str | None:
    """The name of a queue, as in Q_CLUSTER_NAME; None for the ordinary one."""
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip() or value != value.strip() or len(value) > LONGEST:
        raise DefinitionError(f'{what} is {value!r}: write the name of a queue, as in queue="slow"')
    return value


def refuse_unknown(options: Mapping[str, object], known: frozenset[str], where: str) -> None:
    """An option that does not exist is a slip of the pen, and must not pass for its default."""
    for name in options:
        if name not in known:
            raise DefinitionError(f"{where} has no option `{name}`. {nearest(name, known)}")


def option_names(function: Callable[..., Any]) -> frozenset[str]:
    """The options a function takes: its keyword-only parameters."""
    return frozenset(function.__kwdefaults__ or ())


def step_name(function: object, name: object) -> str:
    """The name of a step: the one written, else its function's."""
    if hasattr(function, "bodies"):
        own = getattr(function, "name", "step")
        raise DefinitionError(f'`{own}` is a step already: write {own}.named("…") for another one')
    if isinstance(function, str):
        raise DefinitionError(f"@step takes its options by name: write @step(name={function!r})")
    if name is not None:
        return check_step_name(name)
    own = getattr(function, "__name__", None)
    if own is None or own == "<lambda>":
        what = "a lambda" if own else f"{function!r}"
        raise DefinitionError(f'@step: {what} has no name of its own: write step(name="…")(…)')
    return check_step_name(own)


def body_of(function: object, where: str, *, atomic: object) -> Callable[..., Any]:
    """The function of a step or a handler."""
    body = check_callable(function, where)
    if flag(atomic, f"{where}: atomic") and is_async(body):
        raise DefinitionError(f"{where} is atomic and async, and a transaction cannot span an await: write a plain def")
    return body


def refuse_handler_words(parameters: Iterable[Parameter], where: str) -> None:
    """`result` and `error` in a step would mean two things in its compensation."""
    for one in parameters:
        if one.name in {"result", "error"}:
            raise DefinitionError(
                f"{where} has a parameter `{one.name}`, a word that in its compensation means what became of itself: "
                f"give the parameter another name"
            )


def check_bound(name: str, value: object, parameters: Iterable[Parameter], step: str) -> None:
    """A value given to bind(): for a parameter there is, and not something that could never be one."""
    where = f"`{step}.bind({name}=…)`"
    known = [one.name for one in parameters]
    if name == "ctx":
        raise DefinitionError(f"{where}: `ctx` is always the context; leave it out")
    if name not in known:
        raise DefinitionError(f"{where}: `{step}` has no parameter `{name}`. {nearest(name, known)}")
    check_value(where, value)


def check_value(where: str, value: object) -> None:
    """A value to be bound, a ref or a callable that finds one; not something that could never be an argument."""
    if hasattr(value, "bodies"):
        raise DefinitionError(f'{where} is a step: write ref("{getattr(value, "provides", "…")}") for what it provides')
    if callable(value):
        parameters_of(value, where)
        if is_async(value):
            raise DefinitionError(f"{where} is async: write a plain function, or make it a step of its own")
