"""Reads an exception that may be hostile: its text, its notes, its causes, its frames. Everything is bounded."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

from saga_app.core.readable import bounded

MAX_SAID = 2_000
MAX_NOTES, MAX_NOTE = 10, 500
MAX_CHAIN = 10_000  # causes that are followed
MAX_SHOWN = 30  # exceptions in one traceback, causes and members of groups together
MAX_CAUSES = 12  # exceptions of one chain in it
FIRST_FRAMES, LAST_FRAMES = 15, 35

_CAUSE = "\nThe above exception was the direct cause of the following exception:\n\n"
_CONTEXT = "\nDuring handling of the above exception, another exception occurred:\n\n"


def class_name(cls: type) -> str:
    """The class with its module, unless it is a built-in one."""
    module = cls.__module__
    return cls.__qualname__ if module == "builtins" or not isinstance(module, str) else f"{module}.{cls.__qualname__}"


def said(error: BaseException) -> str:
    """What str() says of it; when str() raises, what it was made of."""
    try:
        return bounded(plain_text(str(error)), MAX_SAID)
    except BaseException as failure:  # noqa: BLE001 - whatever __str__ does, the failure is recorded
        raised = type(failure).__name__
    try:
        # Not the class's own __repr__: it is as likely to raise as its __str__.
        return bounded(f"(str() raised {raised}) {BaseException.__repr__(error)}", MAX_SAID)
    except BaseException:  # noqa: BLE001 - the same
        return f"(str() raised {raised})"


def plain_text(text: str) -> str:
    """The characters without the methods of a subclass."""
    return str.__str__(text)


def notes(error: BaseException) -> list[str]:
    """What add_note() added."""
    found = _read(error, "__notes__")
    if not isinstance(found, list | tuple):
        return []
    texts = [bounded(plain_text(note), MAX_NOTE) for note in found[:MAX_NOTES] if isinstance(note, str)]
    return [*texts, f"… {len(found) - MAX_NOTES} more notes"] if len(found) > MAX_NOTES else texts


def members(error: BaseException) -> list[BaseException]:
    """The exceptions inside an exception group."""
    if not issubclass(type(error), BaseExceptionGroup):
        return []
    found = _read(error, "exceptions")
    return [member for member in found if _is_exception(member)] if isinstance(found, tuple) else []


def story(error: BaseException, shown: set[int]) -> Iterator[str]:
    """The traceback, causes first, as Python prints it. What is in `shown` (by id) is not shown again."""
    chain = _chain(error)
    fresh = [place for place, link in enumerate(chain) if id(link) not in shown]
    # Marked before anything is shown: the cause of a group's member may be the group.
    shown.update(id(link) for link in chain)
    left_out = fresh[MAX_CAUSES - 1 : -1]  # the first cause and the latest consequences are what a reader looks for
    for place in reversed(fresh):
        if place in left_out:
            if place == left_out[-1]:
                yield f"\n… {len(left_out):,} exceptions of this chain are left out …\n\n"
            continue
        yield from _one(chain[place], shown)
        if place:
            yield _CAUSE if _read(chain[place - 1], "__cause__") is chain[place] else _CONTEXT


def blamed(error: BaseException) -> str:
    """Module and function of the innermost frame of the user's own code, else the nearest thing to it."""
    best, best_rank = "", 0
    for frame in _frames(_read(error, "__traceback__")):
        rank, name = _rank(frame)
        if rank >= best_rank:
            best, best_rank = name, rank
    return best


def _rank(frame: FrameType) -> tuple[int, str]:
    module = frame.f_globals.get("__name__")
    module = plain_text(module) if isinstance(module, str) else "?"
    name = f"{module}:{frame.f_code.co_qualname}"
    top = module.partition(".")[0]
    if top == "saga_app" or top in sys.stdlib_module_names:
        return 1, name
    # A project that is itself installed has no frame outside site-packages; Django's are still not its own.
    installed = "site-packages" in frame.f_code.co_filename or "dist-packages" in frame.f_code.co_filename
    return (2 if top == "django" else 3 if installed else 4), name


def _chain(error: BaseException) -> list[BaseException]:
    """The exception, then its cause, then the cause's cause: as often as needed, a circle once."""
    found: dict[int, BaseException] = {}
    link: Any = error
    while _is_exception(link) and id(link) not in found and len(found) < MAX_CHAIN:
        found[id(link)] = link
        cause = _read(link, "__cause__")
        link = cause if cause is not None or _read(link, "__suppress_context__") else _read(link, "__context__")
    return list(found.values())


def _one(error: BaseException, shown: set[int]) -> Iterator[str]:
    frames = _read(error, "__traceback__")
    if frames is not None:
        yield "Traceback (most recent call last):\n"
        yield from _frame_lines(frames)
    text = said(error)
    yield f"{class_name(type(error))}: {text}\n" if text else f"{class_name(type(error))}\n"
    yield from (f"{note}\n" for note in notes(error))
    inside = members(error)
    for number, member in enumerate(inside, 1):
        if id(member) in shown:
            continue
        if len(shown) >= MAX_SHOWN:
            yield f"  … {len(inside) - number + 1:,} of {len(inside):,} exceptions are left out …\n"
            return
        yield f"  [{number} of {len(inside):,}]\n"
        yield from (_indented(part) for part in story(member, shown))


def _indented(text: str) -> str:
    return "".join(f"  {line}" for line in text.splitlines(keepends=True))


def _frame_lines(frames: TracebackType) -> list[str]:
    count = sum(1 for _ in _frames(frames))
    if count <= FIRST_FRAMES + LAST_FRAMES:
        return traceback.format_tb(frames)
    gap = f"  … {count - FIRST_FRAMES - LAST_FRAMES:,} frames are left out …\n"
    return [*traceback.format_tb(frames, FIRST_FRAMES), gap, *traceback.format_tb(frames, -LAST_FRAMES)]


def _frames(frames: Any) -> Iterator[FrameType]:
    while isinstance(frames, TracebackType):
        yield frames.tb_frame
        frames = frames.tb_next


def _is_exception(value: object) -> bool:
    return issubclass(type(value), BaseException)


def _read(error: BaseException, name: str) -> Any:
    """An attribute that a subclass may have replaced by something that raises."""
    try:
        return getattr(error, name, None)
    except BaseException:  # noqa: BLE001 - then there is nothing to show
        return None
