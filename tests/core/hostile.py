"""Exceptions that misbehave when they are asked what they are, and what holds of every description."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from saga_app.core.failures import MAX_LINE, MAX_MESSAGE, MAX_TRACEBACK, ErrorInfo, describe


class Declined(Exception):
    pass


class NeedsTwoArgs(Exception):
    def __init__(self, text: str, code: int) -> None:
        super().__init__(f"{text} ({code})")


class StrRaises(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no")


class StrStops(Exception):
    def __str__(self) -> str:
        raise SystemExit(3)

    __repr__ = __str__


class StrIsNone(Exception):
    def __str__(self) -> str:
        return self.args[1:]  # type: ignore[return-value]


class ReprRaises(Exception):
    def __repr__(self) -> str:
        raise KeyboardInterrupt


class Silent:
    def __repr__(self) -> str:
        raise KeyboardInterrupt


class OddText(str):
    __slots__ = ()

    def __getitem__(self, key: object) -> str:
        raise SystemExit

    __len__ = __format__ = __str__ = encode = __getitem__  # type: ignore[assignment]


class SaysOddText(Exception):
    def __str__(self) -> str:
        return OddText("odd")


class Closed(Exception):
    """Every way in is a trap."""

    def _trap(self) -> Any:
        raise SystemExit

    __cause__ = __context__ = __notes__ = __traceback__ = __suppress_context__ = property(_trap)  # type: ignore[assignment]


class Nowhere(Exception):
    __module__ = None  # type: ignore[assignment]


HOSTILE: list[Callable[..., BaseException]] = [
    StrRaises,
    StrStops,
    StrIsNone,
    ReprRaises,
    SaysOddText,
    Closed,
    Nowhere,
    ValueError,
    KeyError,
    OSError,
    SystemExit,
    KeyboardInterrupt,
    GeneratorExit,
    StopIteration,
]


def raised(error: BaseException, cause: BaseException | None = None) -> BaseException:
    """The exception, with a traceback."""
    if cause is not None:
        error.__cause__ = cause
    try:
        raise error
    except BaseException as caught:  # noqa: BLE001
        return caught


def check(error: BaseException) -> ErrorInfo:
    """Describe it, and check what holds of every description."""
    info = describe(error)
    assert type(error).__qualname__ in info.type
    assert len(info.message) <= MAX_MESSAGE
    assert len(info.traceback) <= MAX_TRACEBACK
    assert len(info.text) <= MAX_LINE
    assert "\n" not in info.text
    for text in [info.type, info.message, info.traceback, info.where, info.text, *info.notes]:
        assert type(text) is str
        assert "\x00" not in text
        text.encode()
    assert ErrorInfo.from_json(info.to_json()) == info
    assert info.to_json().isascii()
    return info


MESSAGES = st.text(st.characters(codec=None), max_size=20) | st.none() | st.integers() | st.binary() | st.builds(Silent)
SINGLE = st.builds(lambda cls, args: cls(*args), st.sampled_from(HOSTILE), st.lists(MESSAGES, max_size=3))
GROUPED = st.recursive(
    SINGLE, lambda inner: st.builds(BaseExceptionGroup, st.text(max_size=5), st.lists(inner, min_size=1, max_size=3))
)


@st.composite
def errors(draw: st.DrawFn) -> BaseException:
    """Exceptions that raise when asked, with causes, contexts, notes and members, some of them in a circle."""
    error, cause, context = draw(GROUPED), draw(st.none() | GROUPED), draw(st.none() | SINGLE)
    if not isinstance(error, Closed):
        error.__cause__ = draw(st.sampled_from([cause, error, context]))
        error.__context__ = context
        error.__suppress_context__ = draw(st.booleans())
        error.__notes__ = draw(st.lists(MESSAGES, max_size=3) | st.just("one note"))
    if cause is not None and not isinstance(cause, Closed):
        cause.__context__ = draw(st.sampled_from([error, None]))
    return raised(error) if draw(st.booleans()) else error
