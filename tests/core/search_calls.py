"""How a call may end, what it leaves outside, and what its worker learns: for `search`.

ok: it landed and returned. error: it raised before anything had landed. late: it landed, then raised. timeout: landed
or not, nobody knows. rejected: it did nothing, and says so. An atomic one that raises has done nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from saga_app.core.arranging import Call, bound, open_gate
from saga_app.core.decisions import CallAtomic, Compensate, Enqueue, Open, Reconcile, Spawn
from saga_app.core.failures import describe
from saga_app.core.outcomes import Direction, How, Outcome, settle
from saga_app.core.snapshot import Snapshot
from saga_app.core.status import Status, StepStatus
from saga_app.core.steps import Step
from tests.core.search import LATER, NOW, Hold, Scenario, World

ERROR = describe(OSError("down"))
CALL = Call("{}", "key")
HOW = {"ok": How.RETURNED, "error": How.RAISED, "late": How.RAISED, "timeout": How.TIMED_OUT, "rejected": How.REJECTED}
LANDS = {"ok": (True,), "error": (False,), "late": (True,), "timeout": (True, False), "rejected": (False,)}
MOST_STUMBLES = 3
STUMBLES = {"once": How.ROLLED_BACK, "never": How.NOT_CALLED}

End = tuple[str, World, Snapshot, bool]
"""What is said of it, the world outside, the facts with the outcome, and whether the commit has the effect too."""


def endings(sc: Scenario, w: World, hold: Hold) -> Iterator[End]:
    """Each way in which the call that this worker is in may end."""
    decision, saga = hold.doing, sc.saga(hold.written)
    path = decision.path  # type: ignore[union-attr]  # a call
    step = saga.step(path)
    assert step is not None
    match decision:
        case Reconcile():
            yield from _answers(sc, w, hold, step, path)
        case Compensate():
            yield from _compensations(sc, w, hold, step, path)
        case _ if step.atomic:
            yield from _atomics(sc, w, hold, step, path)
        case _:
            yield from _calls(sc, w, hold, step, path)


def _answers(sc: Scenario, w: World, hold: Hold, step: Step[..., Any], path: str) -> Iterator[End]:
    for said in sc.finds.get(step.name, "true unknown").split():
        happened = How.HAPPENED if (hold.e, path) in w.landed else How.NOT_HAPPENED
        how = happened if said == "true" else How.UNKNOWN
        yield f"answers {how}", w, _settled(hold.written, step, path, Direction.RECONCILE, how), False


def _compensations(sc: Scenario, w: World, hold: Hold, step: Step[..., Any], path: str) -> Iterator[End]:
    for said in sc.undoes.get(step.name, "ok").split():
        atomic = step.compensation is not None and step.compensation.atomic
        stays = said != "error" and (said == "ok" or not atomic)
        after = replace(w, undone=w.undone | {(hold.e, path)}) if stays else w
        how = How.ROLLED_BACK if atomic and said != "ok" else HOW[said]
        yield said, after, _settled(hold.written, step, path, Direction.COMPENSATE, how), atomic and said == "ok"


def _atomics(sc: Scenario, w: World, hold: Hold, step: Step[..., Any], path: str) -> Iterator[End]:
    x = _counted(hold.written, step, path) if isinstance(hold.doing, CallAtomic) else hold.written
    for said in sc.ends.get(step.name, "ok error").split():
        good = said == "ok"
        after = replace(w, landed=w.landed | {(hold.e, path)}) if good else w
        how = How.RETURNED if good else How.ROLLED_BACK
        yield said, after, _settled(x, step, path, Direction.FORWARD, how), good


def _counted(x: Snapshot, step: Step[..., Any], path: str) -> Snapshot:
    """An atomic body without an intent: its record and its count come with the commit."""
    x = bound(x, step, path, CALL, NOW).but(status=Status.RUNNING)
    return x.with_record(path, status=StepStatus.RUNNING, attempt=x.known(path).attempt + 1, due_at=None)


def _calls(sc: Scenario, w: World, hold: Hold, step: Step[..., Any], path: str) -> Iterator[End]:
    choices = sc.choices.get(step.name, "").split() or [""]
    for said in sc.ends.get(step.name, "ok" if step.pure else "ok error").split():
        for landed in LANDS[said]:
            after = replace(w, landed=w.landed | {(hold.e, path)}) if landed and not step.pure else w
            for choice in choices if said == "ok" else [""]:
                settled = _settled(hold.written, step, path, Direction.FORWARD, HOW[said], choice)
                yield f"{said}{'' if landed else ', nothing landed'} {choice}".strip(), after, settled, False


def unbound(
    x: Snapshot, decision: Enqueue | Open | Spawn, step: Step[..., Any] | None, kind: str, how: How
) -> Snapshot:
    """What a step in its queue, a sleep or a child begins with could not be made: that is its outcome."""
    path = decision.path
    if step is not None:
        x = bound(x, step, path, None, NOW)
    elif x.record(path) is None:
        x = open_gate(x, path, kind, None, None, NOW).with_record(path, attempt=0, attempt_limit=MOST_STUMBLES)
    if how is How.ROLLED_BACK:
        x = x.with_record(path, attempt=x.known(path).attempt + 1)
    return _settled(x, step, path, Direction.FORWARD, how)


def _settled(
    x: Snapshot, step: Step[..., Any] | None, path: str, direction: Direction, how: How, choice: str = ""
) -> Snapshot:
    good = how in (How.RETURNED, How.HAPPENED)
    outcome = Outcome(
        path=path,
        direction=direction,
        how=how,
        at=NOW,
        output_text="1" if good else None,
        error=None if good or direction is Direction.RECONCILE else ERROR,
        retry=not good and how not in (How.REJECTED, How.NOT_CALLED),
        delay=(LATER - NOW).total_seconds(),
        choice=choice,
    )
    return settle(x, outcome, asks=step is not None and step.reconciler is not None)
