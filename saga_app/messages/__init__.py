"""Codes become sentences, in the language of whoever reads: statuses, refusals, reasons, and what to do about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.utils.translation import ngettext

from saga_app.messages.batches import BATCH, BATCH_ACT, BATCH_FIRST, BATCH_REFUSAL, HALTED, ITEM
from saga_app.messages.lengths import seconds, span
from saga_app.messages.words import (
    ACTION,
    CHOICE,
    COMPENSATION,
    CURE,
    DIRECTION,
    EVENT,
    FIRST,
    KIND,
    NEAREST,
    OUTCOME,
    PLAN_REASON,
    REASON,
    REFUSAL,
    ROLLBACK,
    STANDING,
    STATUS,
    STEP,
    VERB,
    WAIT,
)

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

    Words = Mapping[str, StrPromise]

__all__ = [
    "ACTION",
    "BATCH",
    "BATCH_ACT",
    "BATCH_REFUSAL",
    "CHOICE",
    "COMPENSATION",
    "CURE",
    "DIRECTION",
    "EVENT",
    "FIRST",
    "HALTED",
    "ITEM",
    "KIND",
    "NEAREST",
    "OUTCOME",
    "PLAN_REASON",
    "REASON",
    "REFUSAL",
    "ROLLBACK",
    "STANDING",
    "STATUS",
    "STEP",
    "VERB",
    "WAIT",
    "by_hand",
    "compensation_word",
    "cure",
    "event_word",
    "optional_failed",
    "reason_word",
    "rollback_word",
    "seconds",
    "sentence",
    "span",
    "status_word",
    "step_word",
    "verb_word",
    "word",
]


class _Params(dict[str, object]):
    """What a sentence is made of. A word that nobody gave shows as a question mark: no sentence ever fails."""

    def __missing__(self, name: str) -> str:
        return "?"


def sentence(code: str, params: Mapping[str, object] | None = None) -> str:
    """Why a verb was refused, and what to do instead."""
    known = _Params(params or {})
    if "verdict" in known:  # a code, and no name of anybody's
        known["verdict"] = word(CHOICE, str(known["verdict"]))
    if code == "version_changed" and known.get("by"):
        verb = word(VERB, str(known["verb"]))
        return FIRST % {"by": known["by"], "verb": verb, "ago": span(known.get("seconds"))}
    if code == "batch_changed" and known.get("by"):
        return str(BATCH_FIRST) % {"by": known["by"], "what": word(BATCH_ACT, str(known["what"]))}
    text = word({**REFUSAL, **BATCH_REFUSAL}, code)
    text = text % known if code in REFUSAL or code in BATCH_REFUSAL else text
    return f"{text} {NEAREST % known}" if known.get("nearest") else text


def word(words: Words, code: str) -> str:
    """The word for a code; a code without one is shown as it is, readable."""
    return str(words[code]) if code in words else code.replace("_", " ")


def status_word(status: str) -> str:
    """What an execution is doing."""
    return word(STATUS, status)


def rollback_word(rollback_status: str) -> str:
    """What became of its rollback; empty while none has been decided."""
    return word(ROLLBACK, rollback_status)


def step_word(status: str) -> str:
    """What became of a step's forward call."""
    return word(STEP, status)


def compensation_word(status: str) -> str:
    """What became of a step's compensation; empty while it has no outcome."""
    return word(COMPENSATION, status)


def verb_word(verb: str) -> str:
    """What an operator calls a verb."""
    return word(VERB, verb)


def event_word(event_type: str) -> str:
    """What a line of the history is about."""
    return word(EVENT, event_type)


def reason_word(stuck_reason: str) -> str:
    """Why an execution waits for an operator."""
    return word(REASON, stuck_reason)


def cure(stuck_reason: str) -> str:
    """What an operator does about it at 3 a.m."""
    return str(CURE[stuck_reason]) if stuck_reason in CURE else ""


def by_hand(count: int) -> str:
    """How many steps of a rollback an operator undid by hand; every page that says "rolled back" says it."""
    return ngettext("%(count)d step by hand", "%(count)d steps by hand", count) % {"count": count}


def optional_failed(count: int) -> str:
    """How many steps of a completed execution failed and were allowed to."""
    return ngettext("%(count)d optional step failed", "%(count)d optional steps failed", count) % {"count": count}
