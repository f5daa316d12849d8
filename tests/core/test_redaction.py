"""Redaction: nothing shows that stands under a name it hides, at any depth, however the name is written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_app.conf import DEFAULTS
from saga_app.core.redaction import HIDDEN, Redaction

redaction = Redaction(DEFAULTS["REDACT"])
SECRET = "s3cr3t-value"

leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just(SECRET)
harmless = st.sampled_from(["sku", "quantity", "note", "lines", "card"])
hiding = st.sampled_from(["password", "X-Api-Key", "apiKey", "Authorization", "old CARD_NUMBER", "accesstoken", "IBAN"])
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(harmless | hiding, inner, max_size=3)
        | st.tuples(hiding, inner).map(list)
    ),
    max_leaves=12,
)


def is_hidden(name: str) -> bool:
    return redaction.hides(name)


def standing(data: Any) -> list[Any]:
    """Every value that stands under a hiding name, as a mapping or a pair keeps it."""
    if isinstance(data, dict):
        return [v for k, v in data.items() if is_hidden(k)] + [x for v in data.values() for x in standing(v)]
    if not isinstance(data, list):
        return []
    pair = [data[1]] if len(data) == 2 and isinstance(data[0], str) and is_hidden(data[0]) else []
    return pair + [x for v in data for x in standing(v)]


@given(values)
def test_nothing_shows_under_a_name_that_hides(data: Any) -> None:
    assert [one for one in standing(redaction.apply(data)) if one not in (None, HIDDEN)] == []


@given(values)
def test_nothing_else_is_changed(data: Any) -> None:
    assert Redaction([]).apply(data) == data
    if not standing(data):
        assert redaction.apply(data) == data


@pytest.mark.parametrize(
    "name", ["password", "PASSWORD", "userPassword", "pass-word", "api key", "x-api-key", "Field.TOKEN", "CVV2"]
)
def test_a_name_hides_however_it_is_written(name: str) -> None:
    assert redaction.apply({name: SECRET, "sku": "A1"}) == {name: HIDDEN, "sku": "A1"}


@pytest.mark.parametrize("words", [("name", "value"), ("Name", "Value"), ("key", "value")])
def test_a_mapping_may_say_the_name_of_its_value(words: tuple[str, str]) -> None:
    """Headers and form fields are often kept as a list of such."""
    name, value = words
    fields = [{name: "X-Api-Key", value: SECRET, "at": 1}, {name: "sku", value: "A1"}, {value: SECRET}, {name: 1}]
    assert redaction.apply(fields) == [{**fields[0], value: HIDDEN}, *fields[1:]]


@pytest.mark.parametrize("name", ["card", "sku", "note", "amount", "", "key", "idempotency_key"])
def test_other_names_do_not(name: str) -> None:
    assert redaction.apply({name: "shown"}) == {name: "shown"}


def test_what_has_no_end_hides_rather_than_fails() -> None:
    deep: Any = SECRET
    for _ in range(100_000):
        deep = [deep]
    assert redaction.apply(deep) == HIDDEN


def test_a_name_without_a_letter_hides_nothing() -> None:
    """It would stand in every name."""
    assert json.dumps(Redaction(["", "-"]).apply({"a": 1})) == '{"a": 1}'
