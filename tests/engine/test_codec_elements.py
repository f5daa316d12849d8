"""A stored list whose elements are decoded one by one."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
from django.test import override_settings

from saga_app import codec
from saga_app.core.errors import Undecodable
from tests.engine.codec_values import Mood

VALUES = [Decimal("1.5"), {"a": [1]}, ("x", None), dt.date(2026, 1, 2), Mood.CALM]


@pytest.mark.parametrize("kind", [list, tuple])
def test_each_element_comes_back_equal(kind: type) -> None:
    """Of a list and of a tuple; each time anew, so that nobody spoils it for the next."""
    found = codec.elements(codec.encode(kind(VALUES)), path="line")
    assert len(found) == len(VALUES)
    assert [found[at] for at in range(len(found))] == VALUES
    found[1]["a"].append(2)
    assert found[1] == {"a": [1]}


def test_one_that_cannot_be_read_hurts_nobody_else() -> None:
    """The error says which it is."""
    found = codec.elements('[1,{"$enum":["nowhere:Gone","X"]}]', path="line")
    assert found[0] == 1
    with pytest.raises(Undecodable, match=r"line\[1\]"):
        found[1]


@pytest.mark.parametrize("text", ["7", '{"a":1}', '"ab"', "null", "nonsense"])
def test_what_is_no_list(text: str) -> None:
    """Is refused as a whole."""
    with pytest.raises(Undecodable):
        codec.elements(text, path="line")


def test_which_are_inert() -> None:
    """Those whose decoding runs no code of the project and reads none of its rows."""
    found = codec.elements(codec.encode(VALUES))
    assert [found.inert(at) for at in range(len(found))] == [True, True, True, True, False]


class Backwards:
    """Encrypts, as far as a test needs it."""

    @staticmethod
    def encrypt(text: str) -> str:
        return text[::-1]

    decrypt = encrypt


@override_settings(SAGA={"ENCRYPTION": f"{__name__}.Backwards"})
def test_encrypted_none_is_inert() -> None:
    """Since the project's own hook decrypts them."""
    found = codec.elements(codec.encode([1]))
    assert found[0] == 1 and not found.inert(0)
