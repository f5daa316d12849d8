"""What can be read of a stored text that was cut off: the part of its value that had come by then."""

from __future__ import annotations

import re

from saga_app.codec import envelope
from saga_app.codec.display import UNREADABLE, plain
from saga_app.codec.wire import Json

_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s"{}\[\],:]+)')
_CUT_TEXT = re.compile(r'\s*"((?:[^"\\]|\\.)*)')
_CUT_ESCAPE = re.compile(r"(\\u[0-9a-fA-F]{0,3}|\\)$")
_CLOSES = {"{": "}", "[": "]"}


def beginning(text: str) -> Json:
    """The same as `plain`, of a text of which only the beginning was read.

    Its names stand over their values as they do in the whole: whoever hides a value by its name can do so here.
    """
    return "(encrypted)" if text.startswith(envelope.MARK) else plain(mended(text)) if text else UNREADABLE


def mended(text: str) -> str:
    """The longest JSON text that this beginning of one can be made, by leaving out what is not whole and closing.

    A string that was cut off keeps what there is of it where it is a value; a name without its value is left out.
    """
    scan = _Scan()
    at = 0
    while found := _TOKEN.match(text, at):
        if found.end() == len(text) and found[1][0] not in '"{}[],:':
            break  # 12 may have been 123
        at = found.end()
        scan.take(found[1], at)
    tail = _CUT_TEXT.match(text, at) if scan.awaits_value else None
    if tail is None:
        return text[: scan.safe_at] + scan.safe_end
    return f'{text[:at]}"{_CUT_ESCAPE.sub("", tail[1])}"{scan.end}'


class _Scan:
    """Where in a JSON text we are, and where it could be closed last."""

    def __init__(self) -> None:
        self._open: list[str] = []  # the brackets that close what is open, outermost first
        self.awaits_value = True
        self.safe_at, self.safe_end = 0, "null"

    @property
    def end(self) -> str:
        """What closes everything that is open."""
        return "".join(reversed(self._open))

    def take(self, piece: str, at: int) -> None:
        """One more piece, which ends there."""
        in_object = self._open[-1:] == ["}"]
        if piece in _CLOSES:
            self._open.append(_CLOSES[piece])
            self.awaits_value = piece == "["
        elif piece in ("}", "]"):
            self._open = self._open[:-1]
            self.awaits_value = False
        elif piece == ":":
            self.awaits_value = True
            return
        elif piece == ",":
            self.awaits_value = not in_object
            return
        elif in_object and not self.awaits_value:
            return  # a name
        else:
            self.awaits_value = False
        self.safe_at, self.safe_end = at, self.end
