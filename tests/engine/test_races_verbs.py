"""Two people act on one execution, or start one, at the same moment: one is first, and the other is told."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import transaction

from saga_app import KeyConflict, Saga, VerbRefused, engine
from saga_app.models import Execution
from tests import ledger
from tests.engine.drives import DATABASES, drive
from tests.engine.standing import STATES
from tests.gates import Gate, somebody
from tests.harness import DONE, do, end, events, fix, now, ok, outcomes
from tests.threads import at_once

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]

ROUNDS = 4
VERBS: dict[str, Callable[..., Execution]] = {
    "resume": engine.resume,
    "abandon": engine.abandon,
    "unwind": engine.unwind,
    "resolve": lambda x, **options: engine.resolve(x, "b", **options),
    "skip": lambda x, **options: engine.skip(x, "b", happened=True, output=1, **options),
}
BACKWARDS = [("resume", "resume"), ("resume", "resolve"), ("resume", "abandon"), ("resolve", "abandon")]
FORWARDS = [("resume", "skip"), ("resume", "unwind"), ("unwind", "abandon"), ("skip", "skip")]
STUCK = [("stuck_backwards", *pair) for pair in BACKWARDS] + [("stuck_forward", *pair) for pair in FORWARDS]


def asked(verb: str, x: Execution, **options: Any) -> str:
    """Nothing where the verb was accepted, else the code of the refusal."""
    try:
        VERBS[verb](x.pk, reason=f"{verb} it is", **options)
    except VerbRefused as refusal:
        return refusal.code
    return ""


@pytest.mark.parametrize("guarded", [True, False], ids=["guarded", "unguarded"])
@pytest.mark.parametrize(("state", "one", "other"), STUCK)
def test_two_operators(state: str, one: str, other: str, guarded: bool) -> None:
    """Design §12. Hazard A79. One wins, the other is refused with a code; what is owed gets one outcome, not two."""
    for _ in range(ROUNDS):
        ledger.clear()
        x = STATES[state]()
        options = {"version": x.version} if guarded else {}
        codes = at_once(*[partial(asked, verb, x, **options) for verb in (one, other)])
        assert codes.count("") == 1, codes
        (refused,) = [code for code in codes if code]
        assert refused == "version_changed" if guarded else refused in ("not_stuck", "not_waiting", "terminal")
        winner = (one, other)[codes.index("")]
        assert [event.type for event in events(x, *VERBS)] == [winner]
        fix("b", ok())
        drive(x)
        expected = {"resolve": "resolved", "abandon": "failed", "resume": "compensated"}
        assert state == "stuck_forward" or outcomes(x)["b"] == expected[winner]


def test_eight_cancels() -> None:
    """Hazard B198. One is accepted, seven are told so; it is undone once."""
    x = STATES["waiting"]()

    def cancel() -> str:
        try:
            engine.cancel(x.pk)
        except VerbRefused as refusal:
            return refusal.code
        return ""

    assert sorted(at_once(*[cancel] * 8)) == ["", *["cancel_requested"] * 7]
    assert end(drive(x)) == ("cancelled", "completed", "") and ledger.calls("~a") == 1


def test_one_key_twenty_times() -> None:
    """Design §3. Twenty start it at once; there is one execution, which one of them made."""
    saga = Saga("s", do("a", takes="n"))
    started = at_once(*[lambda: saga.start(key="k", n=1)] * 20)
    assert len({x.pk for x in started}) == 1 and sum(x.is_new for x in started) == 1
    assert end(drive(started[0])) == DONE and ledger.calls("a") == 1
    assert len(events(started[0], "start")) == 1


def test_one_key_and_two_inputs() -> None:
    """Design §3. The first input stands; each that differs is refused with the paths that do."""
    saga = Saga("s", do("a", takes="n"))

    def start(n: int) -> int | tuple[str, ...]:
        try:
            return int(saga.start(key="k", n=n).input["n"])
        except KeyConflict as conflict:
            return tuple(conflict.paths)

    answers = at_once(*[partial(start, n) for n in range(6)])
    (first,) = Execution.objects.values_list("input_text", flat=True)
    assert answers.count(("n",)) == 5
    assert [n for n, answer in enumerate(answers) if answer == n] == [int(first.strip("{} ").split(":")[1])]


@pytest.mark.parametrize("commits", [True, False])
def test_a_key_in_a_transaction_that_is_still_open(commits: bool) -> None:
    """Promise P7. Who starts the same key meanwhile waits for its end: the same execution, or one of their own."""
    saga, gate, made = Saga("s", do("a")), Gate(), []

    def view() -> None:
        with transaction.atomic():
            made.append(saga.start(key="k"))
            gate()
            transaction.set_rollback(not commits)

    with somebody(view):
        gate.reached()
        with somebody(lambda: saga.start(key="k")) as second:
            gate.open()
            found = second.result()
    assert found.is_new is not commits and (found.pk == made[0].pk) is commits
    assert Execution.objects.count() == 1


def test_two_reruns_with_one_key() -> None:
    """Design §12. One makes it, the other is told that the key is taken."""
    x = STATES["failed"]()

    def rerun() -> str:
        try:
            return str(engine.rerun(x.pk, key="again").pk)
        except KeyConflict:
            return ""

    answers = at_once(rerun, rerun)
    assert answers.count("") == 1 and Execution.objects.filter(key="again").count() == 1
    assert len(events(x, "rerun")) == 1


def test_a_verb_and_a_worker_at_one_moment() -> None:
    """Design §7.3. A resume out of backoff while the worker looks: the next attempt is made once."""
    for _ in range(ROUNDS):
        ledger.clear()
        x = STATES["waiting"]()
        at_once(partial(asked, "resume", x), lambda x=x: drive(x))
        drive(x)
        assert now(x).status == "completed" and ledger.calls("b") == 2
