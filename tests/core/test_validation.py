"""Names: none twice, none provided twice, none reserved, and the nearest one in every message."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_app import DefinitionError, Saga, step
from saga_app.core import registry
from saga_app.core.names import RESERVED, check_provided, check_step_name, closest, nearest
from tests import strategies


def charge() -> None: ...


def elsewhere() -> None: ...


def refused(*nodes: Any, **options: Any) -> str:
    with registry.isolate(), pytest.raises(DefinitionError) as caught:
        Saga("s", *nodes, **options).seal()
    return str(caught.value)


def test_a_step_used_twice_needs_a_name() -> None:
    """Hazard A110. The error shows the line to write."""
    one = step(charge)
    assert 'write charge.named("charge_again")' in refused(one, one)
    assert 'write charge.named("charge_again")' in refused(one, one.bind())
    with registry.isolate():
        Saga("s", one, one.named("charge_again")).seal()


def test_two_steps_of_one_name() -> None:
    """Hazard A110. Two different functions: both are named with their modules."""
    text = refused(step(charge), step(name="charge")(elsewhere))
    assert f"{__name__}.charge and {__name__}.elsewhere" in text
    assert 'charge.named("charge_again")' in text


def test_nothing_is_provided_twice() -> None:
    """Whoever reads the name could get either."""
    text = refused(step(charge, provides="x"), step(elsewhere, provides="x"))
    assert "`x` is provided by step `charge` and by step `elsewhere`" in text
    assert 'elsewhere.named(provides="x_of_elsewhere")' in text
    assert "`charge` is provided" in refused(step(charge), step(elsewhere, provides="charge"))


def test_reserved_words_in_the_input() -> None:
    """`start(key=…)` means the key, so no field may be called so."""

    def fields(key: str) -> None: ...

    assert "a field `key`" in refused(step(charge), input=fields)


def test_an_input_named_like_an_output() -> None:
    """Whoever reads the name could get either."""

    def fields(charge: str) -> None: ...

    assert "provided by step `charge` too" in refused(step(charge), input=fields)


@given(strategies.any_names)
def test_ordinary_names_are_allowed(name: str) -> None:
    """Every identifier in lower case that is not reserved may name a step and an output."""
    assert check_step_name(name) == check_provided(name, "step") == name


@given(st.text())
def test_a_name_is_a_path_of_its_own(name: str) -> None:
    """Hazard A103, Hazard A105. Whatever is accepted has none of the marks that paths and keys are made of."""
    try:
        check_step_name(name)
    except DefinitionError:
        return
    assert name
    assert not set(name) & set("/[]:. \n\t\0")
    assert not name[0].isdigit()


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_reserved_words_are_not_provided(name: str) -> None:
    """Each of them always means something else."""
    with pytest.raises(DefinitionError, match="always means something else"):
        check_provided(name, "step `x`")


def test_closest() -> None:
    """The name alone, for whoever has a sentence of their own."""
    assert closest("amout", ["amount", "card"]) == "amount"
    assert closest("zzz", ["amount", "card"]) == closest("zzz", []) == ""


def test_nearest() -> None:
    """The one probably meant; else what there is, a dozen at most; else that there is nothing."""
    assert nearest("amout", ["amount", "card"]) == "Did you mean `amount`?"
    assert nearest("zzz", ["b", "a"]) == "There is `a`, `b`."
    assert nearest("zzz", []) == "There is none at all."
    assert nearest("zzz", [f"n{each:02}" for each in range(20)]).endswith("`n11` and more.")
