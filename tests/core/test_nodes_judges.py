"""What the answer of a callable that chooses means, and which answers are none."""

from __future__ import annotations

from enum import Enum, StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_app import Branch, ForEach, If, Repeat, SagaError, While, ref
from saga_app.core.errors import BadChoice
from saga_app.core.steps import Step
from tests.core.making import made

A, B = made("a"), made("b")


class Method(StrEnum):
    CARD = "card"


class OldMethod(str, Enum):  # noqa: UP042 - as older code has it
    CARD = "card"


def always() -> bool:
    return True


def method() -> str:
    return "card"


def judged(made_step: Step[..., Any], value: object) -> str:
    assert made_step.judge
    return made_step.judge(value)


def refused(made_step: Step[..., Any], value: object) -> str:
    with pytest.raises(BadChoice) as caught:
        judged(made_step, value)
    assert isinstance(caught.value, SagaError)
    return str(caught.value)


@pytest.mark.parametrize("label", ["card", Method.CARD, OldMethod.CARD])
def test_a_branch_goes_the_way_of_its_label(label: str) -> None:
    """Members of enumerations that are text are text; the choice is the label as written."""
    choice = judged(Branch(method, card=A, invoice=B).chooser, label)
    assert choice == "card"
    assert type(choice) is str


@pytest.mark.parametrize("value", ["Card", "", "card ", None, 3, True, ["card"], object()])
def test_an_unknown_label(value: Any) -> None:
    """It goes by `default` where there is one, else the step fails and names the ways."""
    text = refused(Branch(method, card=A, invoice=B).chooser, value)
    assert "Branch `method`: " in text
    assert "return one of `card`, `invoice`, or write default=[…]" in text
    assert judged(Branch(method, card=A, default=B).chooser, value) == "default"


@pytest.mark.parametrize(
    "condition",
    [
        If(always, A).chooser,
        While(always, A).condition,
        Repeat(A, until=always).condition,
    ],
)
def test_a_condition_is_a_bool(condition: Step[..., Any]) -> None:
    """What merely counts as true is not what somebody meant to say."""
    assert (judged(condition, True), judged(condition, False)) == ("true", "false")
    for value in (1, 0, "", "no", None, [], object()):
        assert "`always`: its condition returned" in refused(condition, value)
        assert "return True or False" in refused(condition, value)


def test_errors_name_the_node_by_its_new_name() -> None:
    """After `.named` the text says what the page shows."""
    assert "Branch `pay`: " in refused(Branch(method, card=A).named("pay").chooser, 1)
    assert "If `big`: " in refused(If(lambda: 1, A).named("big").chooser, 1)
    assert "While `more`: " in refused(While(always, A).named("more").condition, 1)
    assert "Repeat `more`: " in refused(Repeat(A, until=always).named("more").condition, 1)
    assert "ForEach `row`: " in refused(ForEach("line", always, A).named("row").items, 1)


@given(st.lists(st.none()))
def test_items_are_counted(items: list[Any]) -> None:
    """A list or a tuple, the empty one too; the choice is how many there are."""
    loop = ForEach("line", ref("input.lines"), A)
    assert judged(loop.items, items) == judged(loop.items, tuple(items)) == str(len(items))


@pytest.mark.parametrize("value", [3, "abc", {"a": 1}, {1, 2}, None, (one for one in "ab"), range(3)])
def test_items_that_are_no_list(value: Any) -> None:
    """A number is no items and a text is not its characters: that would pass for a success."""
    text = refused(ForEach("line", ref("input.lines"), A).items, value)
    assert f"ForEach `line`: its items are of type {type(value).__name__}" in text
    assert "list(…)" in text


def test_too_many_items() -> None:
    """The error says how to chunk."""
    loop = ForEach("line", ref("input.lines"), A, max_items=3)
    assert judged(loop.items, [1, 2, 3]) == "3"
    text = refused(loop.items, [1, 2, 3, 4])
    assert "it has 4 items, and max_items is 3: write max_items=4" in text
    assert "loop over chunks, as in" in text


def test_a_long_answer_is_cut() -> None:
    """An error is a sentence, not a dump."""
    assert len(refused(If(always, A).chooser, "x" * 10_000)) < 300
    assert len(refused(Branch(method, card=A).chooser, "x" * 10_000)) < 300
