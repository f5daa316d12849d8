"""Whether two stored values are the same, and where they are not; without reading the rows they refer to."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from saga_app.codec import envelope, wire
from saga_app.codec.leaves import BY_TAG
from saga_app.codec.where import Where
from saga_app.codec.wire import Json


def same(a_text: str, b_text: str) -> bool:
    """Equal, and of the same types all the way down; the order of a dict's keys means nothing."""
    return a_text == b_text or not differing_paths(a_text, b_text)


def differing_paths(a_text: str, b_text: str) -> list[str]:
    """Where two encoded values differ, such as `["lines[2].sku", "total"]`; `value` when it is all of it."""
    found = _differences(envelope.unseal(a_text), envelope.unseal(b_text), Where(""))
    return [str(where) or "value" for where in found]


def _differences(a: Json, b: Json, where: Where) -> Iterator[Where]:
    tag = wire.tag_of(a)
    if type(a) is not type(b) or tag != wire.tag_of(b):
        yield where
    elif tag is not None:
        yield from _tagged(tag, a[tag], b[tag], where)
    elif isinstance(a, dict):
        yield from _parts(a, b, where)
    elif isinstance(a, list):
        yield from _items(a, b, where)
    elif a != b:
        yield where


def _tagged(tag: str, a: Json, b: Json, where: Where) -> Iterator[Where]:
    if tag in BY_TAG:
        if not _equal(BY_TAG[tag].unpack, a, b):
            yield where
    elif tag in (wire.DATACLASS, wire.NAMEDTUPLE) and a[0] == b[0]:
        yield from _parts(a[1], b[1], where)
    elif tag == wire.DICT:
        yield from _parts(_by_key(a), _by_key(b), where)
    elif tag == wire.TUPLE:
        yield from _items(a, b, where)
    elif wire.canonical(a) != wire.canonical(b):
        yield where


def _equal(unpack: Callable[[Json], object], a: Json, b: Json) -> bool:
    """10.0 and 10.00 are one amount, and an instant is one in every zone."""
    try:
        return a == b or unpack(a) == unpack(b)
    except (LookupError, TypeError, ValueError, ArithmeticError):
        return False


def _items(a: list[Json], b: list[Json], where: Where) -> Iterator[Where]:
    if len(a) != len(b):
        yield where
        return
    for index, (left, right) in enumerate(zip(a, b, strict=True)):
        yield from _differences(left, right, where.at(index))


def _parts(a: dict[str, Json], b: dict[str, Json], where: Where) -> Iterator[Where]:
    for name in dict.fromkeys([*a, *b]):
        if name not in a or name not in b:
            yield where.at(name)
        else:
            yield from _differences(a[name], b[name], where.at(name))


def _by_key(pairs: list[Json]) -> dict[str, Json]:
    return {key if isinstance(key, str) else wire.canonical(key): item for key, item in pairs}
