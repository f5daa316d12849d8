"""Which sagas there are in this process: (name, revision) → saga."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from saga_app.core.errors import UnknownSaga
from saga_app.core.names import nearest

if TYPE_CHECKING:
    from saga_app.core.saga import Saga

    AnySaga: TypeAlias = Saga[Any]


@dataclass(slots=True)
class _Shelf:
    """`replaces`: a later saga takes the earlier one's place, and that is no conflict."""

    replaces: bool = False
    sagas: dict[tuple[str, int], AnySaga] = field(default_factory=dict)
    rivals: dict[tuple[str, int], list[AnySaga]] = field(default_factory=dict)


class _Current:
    shelf = _Shelf()


def register(saga: AnySaga) -> None:
    """Called by every saga as it is built. The first one of a (name, revision) is the one that is found."""
    shelf, key = _Current.shelf, (saga.name, saga.revision)
    if key in shelf.sagas and not shelf.replaces:
        shelf.rivals.setdefault(key, []).append(saga)
    else:
        shelf.sagas[key] = saga


def get(name: str, revision: int) -> AnySaga | None:
    """The saga of that name and revision, if this process has it."""
    return _Current.shelf.sagas.get((name, revision))


def latest(name: str) -> AnySaga:
    """The saga of that name with the highest revision, or UnknownSaga."""
    found = [saga for (each, _), saga in list(_Current.shelf.sagas.items()) if each == name]
    if not found:
        raise UnknownSaga(f"no saga is called {name!r}. {nearest(name, (one.name for one in all()))}")
    return max(found, key=lambda one: one.revision)


def all() -> tuple[AnySaga, ...]:  # noqa: A001 - read as registry.all()
    """Every saga, by name and revision."""
    return tuple(saga for _, saga in sorted(_Current.shelf.sagas.items(), key=lambda item: item[0]))


def conflict(name: str, revision: int) -> str:
    """What to say when several sagas claim one (name, revision); "" when one does."""
    shelf, key = _Current.shelf, (name, revision)
    rivals = shelf.rivals.get(key)
    if not rivals:
        return ""
    modules = sorted({one.module for one in (shelf.sagas[key], *rivals)})
    where = f"in {' and in '.join(modules)}" if len(modules) > 1 else f"{len(rivals) + 1} times in {modules[0]}"
    return (
        f"saga {name!r} revision {revision} is defined {where}: "
        f"give one of them another name, or write revision={revision + 1} for a newer version"
    )


def conflicts() -> list[str]:
    """Every conflict, as a sentence."""
    return [conflict(*key) for key in sorted(_Current.shelf.rivals)]


@contextmanager
def isolate() -> Iterator[None]:
    """An empty registry inside, the one from before afterwards. Inside, a later saga replaces an earlier one."""
    before, _Current.shelf = _Current.shelf, _Shelf(replaces=True)
    try:
        yield
    finally:
        _Current.shelf = before
