"""What is kept of an exception: bounded, readable text that any database can store. Recording a failure never fails."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields
from typing import TypeAlias, TypeVar

from saga_app.core import tracebacks
from saga_app.core.readable import bounded, readable

__all__ = ["ErrorInfo", "describe", "fingerprint", "readable"]

MAX_MESSAGE = tracebacks.MAX_SAID
MAX_TRACEBACK = 16_000
MAX_LINE = 300
MAX_CAUSES = 10  # exceptions of a group that the message names

_VARYING = re.compile(
    r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"  # a UUID
    r"|\b[0-9a-fA-F]{8,}\b"  # a digest
    r"|\b\w*?\d\w*(?:[.,]\d+)*"  # a number, an address, an id such as ch_1Kx9
)
_INDEX = re.compile(r"\[\d+\]")

T = TypeVar("T")
_Class: TypeAlias = type[BaseException]  # ErrorInfo has a field called `type`


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """What is known of a failure, as text.

    Attributes:
        type: the class of the exception, with its module unless it is a built-in one.
        message: what the exception says.
        traceback: where it was raised, with its causes.
        notes: what was added to it on its way.
        where: module and function of the frame that is most likely to blame.
        bases: the classes its class is made of, named like it.
    """

    type: str
    message: str = ""
    traceback: str = ""
    notes: tuple[str, ...] = ()
    where: str = ""
    bases: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The failure in one line, such as `CardDeclined: no funds`."""
        name = self.type.rpartition(".")[2]
        message = " ".join(self.message.split())
        return bounded(": ".join(part for part in (name, message) if part), MAX_LINE)

    def is_a(self, classes: Iterable[_Class]) -> bool:
        """Whether it is one of those classes. Whatever failed a step is an Exception, timeouts and lost workers too."""
        names = {self.type, *self.bases, "Exception"}
        return any(tracebacks.class_name(cls) in names for cls in classes)

    def to_json(self) -> str:
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> ErrorInfo:
        """Read what to_json wrote; any other text becomes the message, so that a page about a failure never fails."""
        try:
            stored = json.loads(text)
            known = {field.name: stored[field.name] for field in fields(cls) if field.name in stored}
            return cls(**{**known, "notes": tuple(known.get("notes", ())), "bases": tuple(known.get("bases", ()))})
        except (ValueError, TypeError, RecursionError):
            return cls(type="", message=bounded(text, MAX_MESSAGE))


def describe(error: BaseException) -> ErrorInfo:
    """Keep what can be kept of an exception. Never raises, whatever the exception does when it is asked."""
    name = _guarded(lambda: readable(tracebacks.class_name(type(error))), "an exception")
    return ErrorInfo(
        type=name,
        message=_guarded(lambda: _message(error), "(its text cannot be read)"),
        traceback=_guarded(lambda: _ends(readable("".join(tracebacks.story(error, set())))), name),
        notes=_guarded(lambda: tuple(tracebacks.notes(error)), ()),
        where=_guarded(lambda: readable(tracebacks.blamed(error)), ""),
        bases=_guarded(lambda: tuple(map(tracebacks.class_name, type(error).__mro__[1:-2])), ()),
    )


def fingerprint(saga: str, path: str, direction: str, info: ErrorInfo, reason: str = "") -> str:
    """Name the cause of a failure, so that failures of one cause can be found together: 16 hex digits.

    Args:
        saga: its name.
        path: of the step; the turns of a loop are one step.
        direction: in which it was called.
        info: what it raised.
        reason: why it is stuck, where it is: what is to be done about it hangs on that.
    """
    said = _VARYING.sub("*", info.message)
    same = [saga, _INDEX.sub("[]", path), direction, info.type, info.where, said, reason]
    return hashlib.sha256(json.dumps(same).encode()).hexdigest()[:16]


def _message(error: BaseException) -> str:
    """What it says; of a group, also what its members say, counted."""
    text = tracebacks.said(error)
    causes = _leaves(error)
    if not causes:
        return text
    first = causes[:MAX_CAUSES]
    named = [ErrorInfo(tracebacks.class_name(type(cause)), tracebacks.said(cause)).text for cause in first]
    more = [f"{len(causes) - MAX_CAUSES:,} more"] if len(causes) > MAX_CAUSES else []
    return bounded(f"{text}: " + "; ".join([*named, *more]), MAX_MESSAGE)


def _leaves(error: BaseException) -> list[BaseException]:
    """The exceptions in a group that are not groups themselves, in order."""
    leaves, waiting, seen = [], tracebacks.members(error)[::-1], {id(error)}
    while waiting:
        member = waiting.pop()
        if id(member) in seen:
            continue
        seen.add(id(member))
        inside = tracebacks.members(member)
        waiting.extend(inside[::-1])
        if not inside:
            leaves.append(member)
    return leaves


def _ends(text: str) -> str:
    """A long traceback without its middle: how it began, and where it ended."""
    if len(text) <= MAX_TRACEBACK:
        return text
    head, tail = MAX_TRACEBACK // 3, MAX_TRACEBACK * 2 // 3 - 100
    return f"{text[:head]}\n… {len(text) - head - tail:,} characters are left out …\n{text[-tail:]}"


def _guarded(read: Callable[[], T], otherwise: T) -> T:
    try:
        return read()
    except BaseException:  # noqa: BLE001 - a failure that cannot be described in full is still recorded
        return otherwise
