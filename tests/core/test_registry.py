"""The registry: a saga is found by name and revision, and two of one kind are an error that names both."""

from __future__ import annotations

import types
from typing import Any

import pytest

from saga_app import DefinitionError, Saga, UnknownSaga, step
from saga_app.core import registry


@step
def noop() -> None: ...


@pytest.fixture(autouse=True)
def _shelf(monkeypatch: pytest.MonkeyPatch) -> None:
    """A real registry, not an isolated one, that is empty and goes away."""
    monkeypatch.setattr(registry._Current, "shelf", registry._Shelf())


def in_module(name: str, saga: str, revision: int = 1) -> Saga[Any]:
    """A saga written in a module of that name."""
    module = types.ModuleType(name)
    module.__dict__.update(Saga=Saga, noop=noop, saga=saga, revision=revision)
    exec("made = Saga(saga, noop, revision=revision)", module.__dict__)  # noqa: S102 - as an import would
    return module.__dict__["made"]  # type: ignore[no-any-return]


def test_a_saga_is_found() -> None:
    """By name and revision; without a revision the highest; and all of them in order."""
    two, one, other = Saga("s", noop, revision=2), Saga("s", noop, revision=1), Saga("a", noop)
    assert (registry.get("s", 1), registry.get("s", 2), registry.get("s", 3)) == (one, two, None)
    assert registry.latest("s") is two
    assert registry.all() == (other, one, two)
    assert registry.conflicts() == []


def test_an_unknown_name() -> None:
    """The error is a LookupError that shows the nearest name."""
    Saga("place-order", noop)
    with pytest.raises(UnknownSaga, match="`place-order`") as caught:
        registry.latest("place-oder")
    assert isinstance(caught.value, LookupError)


def test_two_of_one_kind_name_both_modules() -> None:
    """Case C19. The first is kept, the conflict is told with the cure, and neither may start."""
    first, second = in_module("shop.sagas", "s"), in_module("shop.other", "s")
    assert registry.get("s", 1) is first
    (said,) = registry.conflicts()
    assert "shop.other and in shop.sagas" in said
    assert "revision=2" in said
    for saga in (first, second):
        with pytest.raises(DefinitionError, match=r"shop\.other"):
            saga.seal()
    assert in_module("shop.other", "s", 2).input_names == {}


def test_twice_in_one_module() -> None:
    """A copied line is found too."""
    for _ in range(3):
        in_module("shop.sagas", "s")
    assert "3 times in shop.sagas" in registry.conflicts()[0]


def test_isolation() -> None:
    """Inside nothing from outside is seen, a later saga takes the earlier one's place; afterwards all is as before."""
    outside = Saga("s", noop)
    with registry.isolate():
        assert registry.all() == ()
        Saga("s", noop)
        later = Saga("s", noop)
        assert (registry.get("s", 1), registry.conflicts()) == (later, [])
        with registry.isolate():
            assert registry.all() == ()
        assert registry.all() == (later,)
    assert registry.all() == (outside,)


def test_isolation_ends_with_an_error_too() -> None:
    """A failing test leaves nothing behind."""

    def fail() -> None:
        with registry.isolate():
            Saga("s", noop)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert registry.all() == ()


def test_a_saga_that_cannot_be_built_is_not_registered() -> None:
    """What was refused does not exist."""
    with pytest.raises(DefinitionError):
        Saga("s", noop, noop)
    assert registry.all() == ()
