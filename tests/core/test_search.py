"""Every state that can be reached is lawful: the promises, checked on all of them instead of some."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from saga_app import Pivot
from saga_app.core import arranging, changes, decide, ending, family, gating, tree, verbs
from saga_app.core.decisions import Decision
from tests.core import test_search_children as children
from tests.core import test_search_gates as gates
from tests.core import test_search_groups as groups
from tests.core.search import Scenario
from tests.core.search_laws import explored
from tests.core.search_scenarios import FULL, made, scenario

SAGAS = {
    "external": lambda: [made("a", attempts=2), made("b", attempts=2, undo=2)],
    "one attempt": lambda: [made("a"), made("b", undo=0)],
    "atomic": lambda: [made("a", attempts=2, atomic=True, atomic_undo=True), made("b", undo=0)],
    "pivot": lambda: [made("a"), Pivot(), made("b", attempts=2)],
    "atomic past the pivot": lambda: [made("a"), Pivot(), made("b", attempts=2, atomic=True)],
    "asks": lambda: [made("a", attempts=2, asks=True), made("b", undo=0)],
    "asks before the pivot": lambda: [made("a", asks=True), Pivot(), made("b", undo=0)],
    "optional": lambda: [made("a", required=False), made("b", undo=0)],
}


HURRIED = ("atomic", "pivot")  # what waits for its next attempt need not wait


def two_steps(name: str) -> Scenario:
    """Calls end in every way; a worker may die, one loses its lease, somebody cancels, an operator acts."""
    row, undo = SAGAS[name](), "ok error late"
    if name == "external":
        return scenario(*row, a=FULL, b=FULL, undo_a=undo, undo_b=undo, crashes=2, cancels=1, presses=1)
    made_up = scenario(*row, a=FULL, b=FULL, undo_a=undo, undo_b=undo, crashes=1, lapses=1, cancels=1, presses=1)
    return replace(made_up, budgets={**made_up.budgets, "hurries": int(name in HURRIED)})


@pytest.mark.parametrize("name", SAGAS)
def test_every_state_is_lawful_and_comes_to_rest(name: str) -> None:
    """Promises P1, P2, P3 and P6, and every move of the table, in all states."""
    assert len(explored(two_steps(name)).worlds) > 500


def two_to_undo() -> Scenario:
    """The later one may have to wait for its next attempt."""
    return scenario(made("a"), made("b", undo=2), made("c", undo=0), c="error", undo_b="ok error")


def forgetful(record: Any, _step: Any) -> bool:
    return bool(record.may_have_happened)


def waits(record: Any) -> bool:
    return bool(record.status == "waiting")


def sure(*given: Any) -> Any:
    return gating.time_out(*given).but(presuming=False)


MISTAKES: dict[str, tuple[Any, str, Any, Callable[[], Scenario]]] = {
    "an orphan counts as one that did nothing": (arranging, "_may_have_happened", forgetful, groups.before_the_pivot),
    "anything may be decided while a body may run": (decide, "HARMLESS", Decision, gates.asked),
    "nobody waits for what runs": (decide, "closing", lambda *_: (False, None), groups.group),
    "the unwind has no order": (tree.Ahead, "holds_back", lambda *_: False, two_to_undo),
    "open records stay open": (ending, "settle_open", lambda _saga, x, _now: x, lambda: two_steps("one attempt")),
    "a parent is not told": (family, "tells", lambda *_: False, children.child),
    "a timeout is written over a signal": (changes, "time_out", sure, gates.beside_a_call),
    "a resume ends what sleeps": (verbs, "_backs_off", waits, gates.sleep),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_wrong_rule_is_noticed(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search can fail: each of these mistakes breaks a promise in some state."""
    where, name, instead, made_up = MISTAKES[mistake]
    monkeypatch.setattr(where, name, instead)
    with pytest.raises(AssertionError):
        explored(made_up())
