"""What must be true of every execution whatever happened to it: the promises, checked against rows and ledger.

P3 and P5 speak of moments that are gone when a test has ended; the tests that provoke them look for themselves.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from saga_app.core.status import OUTCOMES, STOPPED, TERMINAL
from saga_app.models import Event, Execution, StepRecord
from saga_app.store.transactions import alias
from tests import ledger
from tests.shared_clock import clock

LATE = 2.0  # seconds: how far two clocks of one machine may differ, when it is busy
AFTER_THE_END = {"late_result", "rerun", "fork"}
ENDS = {"completed", "failed", "cancelled"}


def check_promises() -> None:
    """Fail, naming each promise that is broken and where."""
    broken = [
        f"{promise} {x.saga} {x.pk} {where}".rstrip()
        for x in Execution.objects.using(alias()).all()
        for promise, where in _broken(x)
    ]
    calls = StepRecord.objects.using(alias()).exclude(idempotency_key="").filter(origin=None)  # no copies in forks
    keys = list(calls.values_list("idempotency_key", flat=True))
    broken += [f"P4 two calls have the key {key}" for key, times in Counter(keys).items() if times > 1]
    assert not broken, "\n".join(broken)


def _broken(x: Execution) -> list[tuple[str, str]]:
    records = list(StepRecord.objects.using(alias()).filter(execution_id=x.pk).order_by("seq"))
    notes: dict[str, list[ledger.Note]] = {}
    for note in ledger.begun("execution = %s", str(x.pk)):
        notes.setdefault(note.path.lstrip("~?"), []).append(note)
    found: list[tuple[str, str]] = []
    for record in records:
        own = notes.get(record.path, [])
        found += [("P1", f"{record.path}: {text}") for text in _begun_again(record, own)]
        found += [("P2", f"{record.path}: {text}") for text in _outcome(x, record, own)]
        found += [("P4", f"{record.path}: {text}") for text in _keys(record, own)]
    found += [("P6", text) for text in _reasons(x, records)]
    found += [("P8", text) for text in _after_the_end(x)]
    found += [("P9", text) for text in _two_facts(x)]
    return found


def _forward(notes: list[ledger.Note]) -> list[ledger.Note]:
    return [one for one in notes if one.name[0] not in "~?"]


def _back(notes: list[ledger.Note]) -> list[ledger.Note]:
    return [one for one in notes if one.name[0] == "~"]


def _begun_again(record: StepRecord, notes: list[ledger.Note]) -> list[str]:
    """No attempt begins after the step is recorded as completed."""
    found = []
    history = [one for one in record.attempts if one["direction"] != "compensate"]
    done = [place for place, one in enumerate(history) if one.get("outcome") in ("returned", "happened")]
    if done and done[0] != len(history) - 1:
        found.append(f"went on after it was completed: {history}")
    if [one for one in _forward(notes) if one.attempt > record.attempt]:
        found.append(f"an attempt began that was not counted; the record says {record.attempt}")
    if record.status == "completed" and record.finished_at and not clock.was_moved():
        late = [one.at for one in _forward(notes) if one.at > record.finished_at.timestamp() + LATE]
        if late:
            found.append(f"began at {late}, completed at {record.finished_at.timestamp()}")
    return found


def _outcome(x: Execution, record: StepRecord, notes: list[ledger.Note]) -> list[str]:
    """Terminal and unwound: exactly one outcome for each step that owed a compensation, and none for the others."""
    owed = (
        record.owes
        and record.taken_by is None
        and (record.status == "completed" or (record.status == "failed" and record.may_have_happened))
    )
    found = []
    history = [one for one in record.attempts if one["direction"] == "compensate"]
    done = [one for one in history if one.get("outcome") == "returned"]
    if len(done) > 1 or (done and done[0] is not history[-1]):
        found.append(f"compensated more than once: {history}")
    if done and record.compensation_status != "compensated":
        found.append(f"was compensated, and says {record.compensation_status!r}")
    if len(_back(notes)) > record.compensation_attempt:
        found.append(f"{len(_back(notes))} calls of the compensation, {record.compensation_attempt} counted")
    if not record.compensation_status and _back(notes):
        found.append("a compensation was called, and there is no outcome")
    if record.compensation_status == "compensated" and _forward(notes) and not _back(notes):
        found.append("says compensated, and no compensation was called")
    if x.status not in TERMINAL or x.unwinding_at is None:
        return found
    if owed and record.compensation_status not in OUTCOMES and not _kept(x, record):
        found.append(f"owed, and its outcome is {record.compensation_status!r}")
    if not owed and record.compensation_status:
        found.append(f"not owed, and its outcome is {record.compensation_status!r}")
    if record.compensation_status in ("failed", "abandoned") and x.rollback_status != "abandoned":
        found.append(f"{record.compensation_status}, and the rollback is {x.rollback_status!r}")
    return found


def _kept(x: Execution, record: StepRecord) -> bool:
    """It started before the point at which the unwind rested."""
    later = x.steps.filter(seq__gt=record.seq)
    return x.rollback_status == "rested" and any(
        one.kind == "milestone" or (one.kind == "child" and one.choice) for one in later
    )


def _keys(record: StepRecord, notes: list[ledger.Note]) -> list[str]:
    """One key for all attempts of a call; its compensation has its own, and is told the forward one."""
    forward, back = {one.key for one in _forward(notes)}, {one.key for one in _back(notes)}
    told = {one.data.get("forward_key") for one in _back(notes)}
    found = []
    if not forward <= {record.idempotency_key}:
        found.append(f"called with {forward}, the record says {record.idempotency_key!r}")
    if len(back) > 1 or back & forward:
        found.append(f"compensated with {back}, called with {forward}")
    if not told <= {record.idempotency_key}:
        found.append(f"the compensation was told {told}, the record says {record.idempotency_key!r}")
    return found


def _reasons(x: Execution, records: list[StepRecord]) -> list[str]:
    """Nothing waits without a reason that can be seen, and what has ended has decided everything."""
    found = []
    if (x.due_at is None) != (x.status in STOPPED) and not _waits_for_something(x, records):
        found.append(f"{x.status}, due at {x.due_at}")
    if (x.status == "stuck") != bool(x.stuck_reason):
        found.append(f"{x.status}, reason {x.stuck_reason!r}")
    if x.status == "stuck" and not x.cause:
        found.append("stuck, and in no group")
    if x.status in STOPPED and x.lease_holder:
        found.append(f"{x.status}, and held by {x.lease_holder}")
    if (x.status in TERMINAL) != (x.finished_at is not None):
        found.append(f"{x.status}, finished at {x.finished_at}")
    if x.status in ("failed", "cancelled") and x.rollback_status in ("", "stuck"):
        found.append(f"{x.status}, and the rollback is {x.rollback_status!r}")
    if x.status in TERMINAL:
        going_on = ("running", "waiting", "queued")
        found += [
            f"{x.status}, and {one.path} is {one.status}/{one.compensation_status}"
            for one in records
            if one.status in going_on or one.compensation_status in going_on
        ]
    return found


def _waits_for_something(x: Execution, records: list[StepRecord]) -> bool:
    """Without a due time: a gate is open, a child is at work, or a step is in a queue."""
    if x.status in STOPPED or x.due_at is not None:
        return False
    gates = any(one.status == "waiting" and one.kind in ("wait", "approval") for one in records)
    children = x.children.exclude(status__in=TERMINAL).exists()
    return gates or children or any(one.row_due_at for one in records)


def _after_the_end(x: Execution) -> list[str]:
    """What has ended changes no more."""
    types: list[Any] = list(
        Event.objects.using(alias()).filter(execution_id=x.pk).order_by("id").values_list("type", flat=True)
    )
    if x.unwind_cause == "parent":  # what had ended well was undone by its parent
        types = types[types.index("completed") + 1 :]
    end = next((place for place, one in enumerate(types) if one in ENDS), None)
    if (end is None) != (x.status not in TERMINAL):
        return [f"{x.status}, and the history says {types}"]
    after = [] if end is None else [one for one in types[end + 1 :] if one not in AFTER_THE_END | {"abandon"}]
    return [f"went on after its end: {types}"] if after else []


def _two_facts(x: Execution) -> list[str]:
    """Why it failed is kept, whatever became of the rollback."""
    lost = x.unwind_cause == "failure" and x.error_text is None
    return ["nobody knows why it failed"] if lost else []
