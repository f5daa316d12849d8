"""Every code has a sentence, and no sentence fails, whatever it is given."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils import translation

import saga_app
from saga_app import messages
from saga_app.core import outcomes, status, unwind, verbs

CODES = {
    "STATUS": status.Status,
    "ROLLBACK": status.RollbackStatus,
    "STEP": status.StepStatus,
    "COMPENSATION": status.CompensationStatus,
    "REASON": status.StuckReason,
    "CURE": status.StuckReason,
    "ACTION": unwind.Action,
    "OUTCOME": outcomes.How,
    "DIRECTION": outcomes.Direction,
    "VERB": verbs.VERBS,
}


@pytest.mark.parametrize("table", CODES)
def test_every_code_has_a_word(table: str) -> None:
    words = getattr(messages, table)
    assert {str(code) for code in CODES[table]} - {""} <= set(words)
    assert all(str(text).strip() for text in words.values())


def refusals() -> Iterator[str]:
    """The codes that a verb can be refused with, as the source says."""
    home = Path(saga_app.__file__).parent
    core = (home / "core" / "verbs.py").read_text()
    yield from re.findall(r'"([a-z_]+)"', core.partition("def _resume")[2].partition("_RULES")[0])
    for path in home.rglob("*.py"):
        yield from re.findall(r'Refused\(\s*"([a-z_]+)"', path.read_text())


def test_every_refusal_has_a_sentence() -> None:
    codes = set(refusals())
    assert {"not_stuck", "version_changed", "reason_required", "no_such_step"} <= codes
    assert codes - set(messages.REFUSAL) - set(messages.BATCH_REFUSAL) == set()


@pytest.mark.parametrize("code", [*messages.REFUSAL, *messages.BATCH_REFUSAL, "a_code_of_tomorrow", "", "%s %(x)"])
@pytest.mark.parametrize("params", [None, {}, {"path": "%(now)s", "nearest": "b", "by": "", "seconds": None}])
def test_no_sentence_fails(code: str, params: dict[str, object] | None) -> None:
    text = messages.sentence(code, params)
    assert isinstance(text, str)
    assert "%(" not in text or "%(x)" in code or (params and "%(now)s" in text)


def test_who_was_first() -> None:
    params = {"seen": 4, "now": 5, "by": "anna", "verb": "resume", "seconds": 12}
    assert messages.sentence("version_changed", params).startswith("anna was first: resume, 12 s ago.")
    assert "version 4 then, 5 now" in messages.sentence("version_changed", {**params, "by": ""})


def test_who_was_first_at_a_batch() -> None:
    params = {"by": "anna", "what": "pause"}
    assert messages.sentence("batch_changed", params).startswith("anna was first: paused.")
    assert messages.sentence("batch_changed", {"by": "", "what": "hold"}).startswith("This batch is not as you saw it")


def test_the_nearest_step_is_named() -> None:
    text = messages.sentence("no_such_step", {"path": "chrge", "nearest": "charge"})
    assert text == "It has no step record “chrge”. Did you mean “charge”?"


def test_every_reason_has_its_own_cure() -> None:
    cures = [messages.cure(reason) for reason in status.StuckReason if reason]
    assert all(cures)
    assert len(set(cures)) == len(cures)
    assert messages.cure("") == messages.cure("of tomorrow") == ""


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"), (-5, "0 s"), (59.9, "59 s"), (60, "1 min"), (3599, "59 min"), (3600, "1 h"), (86400 * 400, "400 d"),
        (None, "?"), ("x", "?"),
    ],
)  # fmt: skip
def test_a_span_is_said_in_one_unit(seconds: object, text: str) -> None:
    assert messages.span(seconds) == text


def test_words_are_translated_when_they_are_read() -> None:
    """Lazy: the module is imported in one language and read in another."""
    with translation.override("de"):
        assert isinstance(messages.status_word("stuck"), str)
    assert messages.by_hand(1) == "1 step by hand"
    assert messages.by_hand(2) == "2 steps by hand"
