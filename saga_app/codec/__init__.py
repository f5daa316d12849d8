"""Values to text and back: equal and of the same types, or refused with the place and the reason. No pickle.

The text is ASCII JSON (wire.py), so NUL, lone surrogates, 1e300 and the order of a dict survive in any database.
A model instance is a reference that is read again when the text is decoded; plain() and differing_paths() look at a
text without reading any row.
"""

from __future__ import annotations

from typing import Any

from saga_app.codec import envelope, wire
from saga_app.codec.beginnings import beginning
from saga_app.codec.compare import differing_paths, same
from saga_app.codec.decoder import Decoder
from saga_app.codec.display import plain
from saga_app.codec.encoder import Encoder, too_large
from saga_app.codec.entries import Elements, Entries
from saga_app.codec.where import Where
from saga_app.conf import settings
from saga_app.core.errors import Undecodable, UnsupportedValue

__all__ = [
    "Elements",
    "Entries",
    "beginning",
    "decode",
    "differing_paths",
    "elements",
    "encode",
    "entries",
    "inert",
    "plain",
    "same",
]


def encode(value: object, *, path: str = "") -> str:
    """The text that decode() turns into an equal value. UnsupportedValue when there is none; `path` is where it is."""
    root, limit = Where(path), int(settings.MAX_VALUE_BYTES)
    text = wire.dumps(Encoder(root, limit).encode(value, root))
    if len(text) > limit:
        raise UnsupportedValue(path, too_large(f"{len(text):,}", limit))
    return envelope.seal(text)


def decode(text: str, *, path: str = "") -> Any:
    """The value that encode() was given. Undecodable when it cannot be had back; database errors pass through."""
    return Decoder().decode(envelope.unseal(text, path), Where(path))


def entries(text: str, *, path: str = "") -> Entries:
    """A mapping that was encoded, each value decoded when it is asked for. Undecodable when the text is none at all."""
    data = envelope.unseal(text, path)
    if not isinstance(data, dict):
        raise Undecodable(path, "is no stored mapping")
    return Entries(data, path)


def elements(text: str, *, path: str = "") -> Elements:
    """A list or tuple that was encoded, each element decoded when it is asked for. Undecodable when it is no such."""
    data = envelope.unseal(text, path)
    if wire.tag_of(data) == wire.TUPLE:
        data = data[wire.TUPLE]
    if not isinstance(data, list):
        raise Undecodable(path, "is no stored list")
    return Elements(data, path, sealed=text.startswith(envelope.MARK))


def inert(text: str) -> bool:
    """Whether decoding it runs no code of the project and reads no row, so that it may be done under a lock."""
    return not text.startswith(envelope.MARK) and not wire.is_live(text)
