"""What is read of a stored text that was cut off: a part of its value, with each name over what stands under it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_app import codec
from saga_app.codec.beginnings import mended
from tests.engine.codec_values import VALUES

texts = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=15,
).map(json.dumps)


def is_part(part: Any, whole: Any) -> bool:
    """Whether it is what had come of the whole: the same but for an end that is missing."""
    if isinstance(whole, dict):
        return isinstance(part, dict) and list(part) == list(whole)[: len(part)] and _all(part.values(), whole.values())
    if isinstance(whole, list):
        return isinstance(part, list) and len(part) <= len(whole) and _all(part, whole)
    if isinstance(whole, str):
        return isinstance(part, str) and (whole.startswith(part) or _but_a_surrogate(part, whole))
    return bool(part == whole)


def _all(parts: Any, wholes: Any) -> bool:
    return all(is_part(part, whole) for part, whole in zip(parts, wholes, strict=False))


def _but_a_surrogate(part: str, whole: str) -> bool:
    """The first half of an astral character is a character of its own."""
    return part != "" and "\ud800" <= part[-1] <= "\udbff" and whole.startswith(part[:-1])


@given(texts, st.integers(0, 200))
def test_every_beginning_is_a_part_of_the_value(text: str, at: int) -> None:
    part = json.loads(mended(text[:at]))
    assert part is None or is_part(part, json.loads(text))


@given(texts)
def test_a_whole_text_is_itself(text: str) -> None:
    if text[0] in '{["':
        assert json.loads(mended(text)) == json.loads(text)


@given(VALUES, st.integers(1, 400))
def test_every_beginning_of_a_stored_value_can_be_shown(value: Any, at: int) -> None:
    """Tags that were cut in the middle included."""
    json.dumps(codec.beginning(codec.encode(value)[:at]))


@pytest.mark.parametrize("text", ["", "nonsense", "}{", '"', "[[[[", "{,,", '{"a" "b"', "\\", "encrypted:gibberish"])
def test_what_is_no_beginning_of_anything_is_shown_as_such(text: str) -> None:
    json.dumps(codec.beginning(text))


def test_keys_that_are_not_strings_are_named_over_what_they_have() -> None:
    """The pair that was cut off in it does not hide whose value the others are."""
    text = codec.encode({("x",): "A1", 5: "B2", "note": "long" * 50})
    assert codec.beginning(text[:40]) == codec.plain(mended(text[:40]))
    assert "B2" in json.dumps(codec.beginning(text))


def test_the_beginning_of_an_encrypted_text_says_only_that() -> None:
    assert codec.beginning("encrypted:" + "x" * 100) == "(encrypted)"
