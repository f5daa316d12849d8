"""Gates, sleeps and deadlines in every state: signals that come at any moment, against time and against requests."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from saga_app import Approval, Compute, Parallel, Pivot, Sleep, Wait
from tests.core.search import Scenario
from tests.core.search_laws import explored
from tests.core.search_scenarios import made, scenario


def wait() -> Scenario:
    """Two signals for one gate, in time or late."""
    return scenario(
        made("a"), Wait("gate", timeout=5), made("b", attempts=2), sent=("gate", "gate"), crashes=1, lapses=1
    )


def wait_forever() -> Scenario:
    """Nothing but the signal opens it."""
    return scenario(made("a", attempts=2), Wait("gate"), sent=("gate",), lapses=1)


def wait_and_cancel() -> Scenario:
    """A signal, a cancel and the pivot behind the gate."""
    b = made("b", attempts=2, undo=0)
    return scenario(made("a"), Wait("gate", timeout=5), Pivot(), b, sent=("gate",), cancels=1, lapses=1, presses=1)


def another_way() -> Scenario:
    """Where nobody came in time, something else is done."""
    gate = Wait("gate", timeout=5, on_timeout=[made("late")])
    return scenario(made("a"), gate, made("b"), sent=("gate",), crashes=1, presses=1, cancels=1)


def number() -> int:
    return 1


def beside_a_call() -> Scenario:
    """Its time may be up, and the signal come, while who drives it is inside of a call."""
    group = Parallel(a=[Wait("gate", timeout=5)], b=[Compute("c", number)])
    return scenario(group, made("z", undo=0), sent=("gate",), crashes=1, cancels=1)


def approval() -> Scenario:
    """Rejected, then approved: the first decides."""
    gate = Approval("pay", permission="x.y", timeout=5, on_reject=[made("no")])
    return scenario(made("a"), gate, made("b"), sent=("pay!rejected", "pay!approved"), crashes=1, cancels=1)


def suspended() -> Scenario:
    """It is suspended and resumed around the signal."""
    gate, b = Wait("gate", timeout=5), made("b", undo=0)
    return scenario(made("a"), gate, b, sent=("gate",), suspends=1, cancels=1, presses=1, hurries=1, verbs="resume")


def sleep() -> Scenario:
    """Only time ends it: no resume does, and no cancel is slept over."""
    row = (made("a"), Sleep(5), made("b", undo=0))
    return scenario(*row, suspends=1, cancels=1, presses=1, hurries=1, crashes=1)


def stumbling() -> Scenario:
    """How long it sleeps cannot be made: at first, or ever."""
    row = (made("a"), Sleep(5).named("rest"), made("b", undo=0))
    return scenario(*row, stumbles={"rest": "once never"}, cancels=1, presses=1, hurries=1, crashes=1, suspends=1)


def held() -> Scenario:
    """A gate that timed out stops it; a resume opens it again, with a new deadline."""
    gate = Wait("gate", timeout=5)
    return scenario(made("a"), gate, made("b"), options={"on_failure": "hold"}, sent=("gate",), presses=2, cancels=1)


def past_the_pivot() -> Scenario:
    """The same, where there is no way back."""
    gate = Wait("gate", timeout=5)
    return scenario(made("a"), Pivot(), gate, made("b", undo=0), sent=("gate",), crashes=1, presses=2, cancels=1)


def deadline() -> Scenario:
    """The whole saga has a deadline; nobody need come to the gate."""
    row = (made("a", attempts=2), Wait("gate"), made("b"))
    return scenario(*row, options={"timeout": 9}, sent=("gate",), presses=1, cancels=1, crashes=1)


def asked() -> Scenario:
    """Orphans are asked about, in either direction."""
    a = made("a", attempts=2, asks=True)
    return scenario(a, made("b", undo=0), a="ok timeout", crashes=1, lapses=1, cancels=1, suspends=1, verbs="resume")


def asked_before_the_pivot() -> Scenario:
    """What stays unknown there stops it."""
    row = (made("a"), made("b", asks=True), Pivot(), made("c", attempts=2, undo=0))
    return scenario(*row, b="ok timeout", crashes=1, lapses=1, presses=2)


SCENARIOS: list[Callable[[], Scenario]] = [
    wait, wait_forever, wait_and_cancel, another_way, beside_a_call, approval, suspended, sleep, stumbling, held,
    past_the_pivot, deadline, asked, asked_before_the_pivot,
]  # fmt: skip


@pytest.mark.parametrize("made_up", SCENARIOS)
def test_every_state_is_lawful_and_comes_to_rest(made_up: Callable[[], Scenario]) -> None:
    """Promises P1, P2 and P6; a signal that came in time beats the deadline, whenever either is driven."""
    assert len(explored(made_up()).worlds) > 100
