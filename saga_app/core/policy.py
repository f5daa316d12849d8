"""How hard to try: attempts, waits, which errors end it, and how long one attempt may take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from saga_app.core.backoff import Backoff
from saga_app.core.errors import DefinitionError
from saga_app.core.seconds import Seconds, seconds

Errors: TypeAlias = type[BaseException] | tuple[type[BaseException], ...]

#: More is a slip of the pen, and would not fit the column that counts them.
MOST_ATTEMPTS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How often a body is tried, and what its errors mean. Tested in the order rejected_on, give_up_on, retry_on."""

    attempts: int = 3
    backoff: Backoff = Backoff()  # noqa: RUF009 - frozen
    retry_on: tuple[type[BaseException], ...] = (Exception,)
    give_up_on: tuple[type[BaseException], ...] = ()
    rejected_on: tuple[type[BaseException], ...] = ()
    timeout: float | None = 30.0


def make_policy(
    where: str,
    *,
    attempts: int,
    backoff: Backoff,
    retry_on: Errors,
    give_up_on: Errors,
    rejected_on: Errors,
    timeout: Seconds | None,
) -> Policy:
    """A policy out of options as people write them, each checked."""
    if not isinstance(backoff, Backoff):
        raise DefinitionError(f"{where}: backoff is {backoff!r}: write backoff=Backoff(first=1, max=60)")
    return Policy(
        attempts=_attempts(attempts, where),
        backoff=backoff,
        retry_on=error_classes(retry_on, f"{where}: retry_on"),
        give_up_on=error_classes(give_up_on, f"{where}: give_up_on"),
        rejected_on=error_classes(rejected_on, f"{where}: rejected_on"),
        timeout=None if timeout is None else seconds(timeout, f"{where}: timeout"),
    )


def _attempts(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise DefinitionError(f"{where}: attempts is {value!r}: write a whole number, all tries counted")
    if not 1 <= value <= MOST_ATTEMPTS:
        raise DefinitionError(
            f"{where}: attempts is {value}, all tries counted: write attempts=1 for no retry, at most {MOST_ATTEMPTS}"
        )
    return value


def error_classes(value: object, what: str) -> tuple[type[BaseException], ...]:
    """Classes of exceptions, one or several."""
    classes = tuple(value) if isinstance(value, tuple | list) else (value,)
    for one in classes:
        if not (isinstance(one, type) and issubclass(one, BaseException)):
            kind = f"{type(one).__name__}" if isinstance(one, BaseException) else "TimeoutError"
            option = what.rpartition(" ")[2]
            raise DefinitionError(f"{what} has {one!r}: write classes of exceptions, as in {option}=({kind},)")
    return classes
