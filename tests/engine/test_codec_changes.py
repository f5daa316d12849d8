"""What was stored by other code, or damaged: read if it can be, else an error that says where and why."""

from __future__ import annotations

import json
from collections import namedtuple
from dataclasses import dataclass, field
from enum import Enum

import pytest

from saga_app import codec
from saga_app.core.errors import Undecodable
from tests.engine import codec_values as values
from tests.engine.codec_values import Bits, Pair, Point, Size

WRONG = [
    "",
    "{",
    "NaN",
    "[" * 100_000,
    '{"$decimal":"x"}',
    '{"$unknown":1}',
    '{"$uuid":1}',
    '{"$set":[[]]}',
    '{"$datetime":["2024-01-01","Atlantis"]}',
]


@pytest.mark.parametrize("text", WRONG)
def test_damaged_text(text: str) -> None:
    """Text that is no value is an error of ours, and says where."""
    with pytest.raises(Undecodable, match=r"^v: "):
        codec.decode(text, path="v")


def test_code_that_is_no_class() -> None:
    """A stored name brings back dataclasses, tuples and Enum members, and calls nothing else."""
    for name in ["os:system", "builtins:print", "saga_app.codec:encode", "no_such:X", "decimal:Decimal", ":", ""]:
        for mark in ["$dataclass", "$namedtuple", "$enum", "$flag"]:
            with pytest.raises(Undecodable):
                codec.decode(json.dumps({mark: [name, {"x": 1}]}))


@dataclass
class Grown:
    """Point as a later release has it."""

    x: int
    y: int = 0
    tags: list[str] = field(default_factory=list)


@dataclass
class Needy:
    x: int
    y: int
    z: int


@dataclass
class Shrunk:
    x: int


class Fewer(Enum):
    BLUE = 3


def test_a_class_that_grew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new field with a default is filled with it: old rows stay readable after a deploy."""
    text = codec.encode([Point(1, 2)])
    monkeypatch.setattr(values, "Point", Grown)
    assert codec.decode(text) == [Grown(1, 2, [])]


@pytest.mark.parametrize(
    ("value", "name", "now", "says"),
    [
        (Point(1), "Point", Needy, "new field z"),
        (Point(1), "Point", Shrunk, "no field y any more"),
        (Point(1), "Point", Size, "cannot be read back"),
        (Point(1), "Point", None, "cannot be read back"),
        (Pair(1, 2), "Pair", namedtuple("Pair", ["right", "left"]), "has the fields right, left now"),  # noqa: PYI024
        (Size.SMALL, "Size", Fewer, "SMALL"),
        (Bits.HIGH | Bits.LOW, "Bits", Fewer, "no Flag any more"),
        (Size.SMALL, "Size", Point, "no Enum any more"),
    ],
)
def test_a_class_that_no_longer_fits(
    value: object, name: str, now: object, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A class that vanished or changed shape: the error says where, and which class."""
    text = codec.encode({"deep": [value]})
    if now is None:
        monkeypatch.delattr(values, name)
    else:
        monkeypatch.setattr(values, name, now)
    with pytest.raises(Undecodable) as caught:
        codec.decode(text)
    assert caught.value.path == "deep[0]"
    assert says in caught.value.reason
    assert not caught.value.gone
