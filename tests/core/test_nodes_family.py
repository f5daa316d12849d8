"""Sagas in sagas, and lists in inputs: what is looked at before anything runs, and refused with the cure."""

from __future__ import annotations

from typing import Any

import pytest

from saga_app import (
    Branch,
    Child,
    DefinitionError,
    ForEach,
    If,
    InputError,
    Parallel,
    Repeat,
    Saga,
    Try,
    While,
    ref,
)
from saga_app.core import registry
from tests.core.making import made

A = made("a")


def check() -> bool:
    return True


@pytest.fixture(autouse=True)
def _isolated() -> Any:
    with registry.isolate():
        yield


def refused(saga: Saga[Any]) -> str:
    with pytest.raises(DefinitionError) as caught:
        saga.seal()
    assert not saga.sealed
    return str(caught.value)


# Its own child


def test_a_saga_in_itself() -> None:
    """It would never end; said when it is sealed, since its name means nothing before."""
    text = refused(Saga("self", Child("self")))
    assert "saga 'self' is its own child, so an execution of it would never end" in text
    assert "write While(…) or Repeat(…) to do the same again" in text


def test_a_saga_in_itself_through_others() -> None:
    """However deep; whichever of them is asked first says so."""
    sagas = [
        Saga("one", A, If(check, Child("two"))),
        Saga("two", Parallel(A, x=[Child("three")])),
        Saga("three", Try(A, recover=Child("one"))),
    ]
    assert "saga 'one' is its own child, through 'two' and 'three'" in refused(sagas[0])
    assert "saga 'two' is its own child, through 'three' and 'one'" in refused(sagas[1])
    assert "is its own child" in refused(Saga("outer", Child("one")))


def test_an_earlier_revision_is_another_saga() -> None:
    """A name means the highest revision, which is not the one that holds it."""
    first = Saga("one", Child("two"), revision=1)
    Saga("one", A, revision=2)
    Saga("two", Child("one"))
    first.seal()
    assert first.sealed


def test_one_saga_many_times() -> None:
    """A child twice, or by two ways, is no circle."""
    Saga("leaf", A)
    Saga("left", Child("leaf"))
    Saga("right", Child("leaf"), Child("leaf").named("again"))
    Saga("top", Child("left"), Child("right"), Child("leaf")).seal()


def test_a_chain_of_sagas() -> None:
    """Deep chains are fine."""
    deep = Saga("n0", A)
    for number in range(1, 20):
        deep = Saga(f"n{number}", Child(deep))
    deep.seal()
    assert registry.latest("n0").sealed


def test_a_child_that_is_nobody() -> None:
    """The text says whose child it is, and who was probably meant."""
    Saga("place-order", A)
    text = refused(Saga("outer", Child("place-ordr")))
    assert "saga 'outer' has Child('place-ordr'): no saga is called 'place-ordr'" in text
    assert "Did you mean `place-order`?" in text
    Saga("inner", Child("nobody"))
    assert "saga 'inner' has Child('nobody')" in refused(Saga("outer2", Child("inner")))


# Lists in the input


def each(where: Any = "input.lines", **options: Any) -> ForEach:
    return ForEach("line", ref(where), A, **options)


def errors(saga: Saga[Any], **values: Any) -> dict[str, str]:
    with pytest.raises(InputError) as caught:
        saga.accept(None, values)
    with pytest.raises(InputError) as again:
        saga.convert(values)
    assert again.value.errors == caught.value.errors
    return caught.value.errors


def test_items_are_looked_at_before_it_starts() -> None:
    """What the loop would refuse is refused at the door, by the name of the field."""
    saga = Saga("s", each(max_items=2))
    assert saga.accept(None, {"lines": [1, 2]}) == saga.convert({"lines": [1, 2]}) == {"lines": [1, 2]}
    assert saga.accept(None, {"lines": ()}) == {"lines": ()}
    found = errors(saga, lines=[1, 2, 3])
    assert list(found) == ["lines"]
    assert "ForEach `line`: it has 3 items, and max_items is 2: write max_items=3" in found["lines"]
    for value in (3, "abc", None, {"a": 1}):
        assert "its items are of type" in errors(saga, lines=value)["lines"]


def test_items_deep_in_the_input() -> None:
    """The way into the value is gone, and where it leads nowhere the text says so."""
    saga = Saga("s", each("input.order.lines"))
    assert saga.accept(None, {"order": {"lines": [1]}})
    assert "its items are of type int" in errors(saga, order={"lines": 1})["order"]
    assert 'ref("input.order.lines"): a value of type dict has no `lines`' in errors(saga, order={})["order"]


def test_items_named_without_the_word_input() -> None:
    """A ref to a field is one, however it is written."""

    def fields(lines: Any) -> None: ...

    saga = Saga("s", each("lines"), input=fields)
    assert "its items are of type int" in errors(saga, lines=1)["lines"]


@pytest.mark.parametrize(
    "around",
    [
        lambda loop: loop,
        lambda loop: Parallel(x=[A.named("b"), loop]),
        lambda loop: Repeat(loop, until=check),
        lambda loop: Repeat(Parallel(x=loop), until=check),
    ],
)
def test_loops_that_are_sure_to_be_reached(around: Any) -> None:
    """Only a failure keeps an execution from them."""
    assert "lines" in errors(Saga("s", around(each())), lines=1)


@pytest.mark.parametrize(
    "around",
    [
        lambda loop: If(check, loop),
        lambda loop: Branch(check, x=loop),
        lambda loop: While(check, loop),
        lambda loop: Try(loop, recover=A.named("b")),
        lambda loop: Parallel(x=If(check, loop)),
    ],
)
def test_loops_that_may_not_be_reached(around: Any) -> None:
    """The condition may be there to keep such a value from the loop."""
    assert Saga("s", around(each())).accept(None, {"lines": None}) == {"lines": None}


def test_items_that_come_from_elsewhere() -> None:
    """A callable's are known when it has run, a step's when it has; an optional field may not be there."""
    assert Saga("s", ForEach("line", lambda lines: lines, A)).accept(None, {"lines": 3}) == {"lines": 3}
    steps = Saga("s", made("lines"), ForEach("line", ref("lines"), A))
    assert steps.accept(None, {}) == {}
