"""Judges a family of executions that has ended: the promises, and whether the world is as the records say."""

from __future__ import annotations

from collections.abc import Iterable

from saga_app.models import Execution, StepRecord
from tests import ledger
from tests.engine.telling import broken_promises
from tests.reading import records
from tests.site.models import Question

UNDONE = ("completed", "not_applicable", "rested")


def verdict(members: Iterable[Execution]) -> list[str]:
    """What is not as was promised."""
    found = [text for one in list(members)[:1] for text in broken_promises(one)]  # of all below it too
    return found + [
        f"{x.saga} {record.path}: {text}" for x in members for record in records(x) for text in _told(x, record)
    ]


def _told(x: Execution, record: StepRecord) -> list[str]:
    if record.kind == "child":
        return _child(x, record)
    if record.kind != "step":
        return []
    stands = _stands(x, record)
    undone = x.unwinding_at is not None and x.rollback_status in UNDONE
    facts = {
        "is completed, and did not happen": record.status == "completed"
        and not record.compensation_status
        and not stands
        and not _was_undone(record),
        "is compensated, and stands": record.compensation_status == "compensated" and stands,
        "is left behind": undone and record.owes and stands and not _kept(x, record),
        "stands, and is not known to": stands and record.status != "completed" and not record.may_have_happened,
    }
    return [text for text, wrong in facts.items() if wrong]


def _stands(x: Execution, record: StepRecord) -> bool:
    rows = Question.objects.filter(title=f"{record.path} {x.pk}").count()
    assert rows < 2, f"{record.path} happened {rows} times"
    key = record.idempotency_key
    return bool(rows) or (bool(ledger.notes("event = 'landed' AND key = %s", key)) and not _was_undone(record))


def _was_undone(record: StepRecord) -> bool:
    return bool(ledger.notes("event = 'undone' AND key = %s", record.idempotency_key))


def _kept(x: Execution, record: StepRecord) -> bool:
    """It began before the point at which the unwind rested."""
    later = [one for one in records(x) if one.seq > record.seq]
    return any(one.kind == "milestone" or (one.kind == "child" and one.choice) for one in later)


def _child(x: Execution, record: StepRecord) -> list[str]:
    """One child for each call; what says that it was undone, was."""
    children = list(x.children.filter(parent_path=record.path))
    found = [] if len(children) <= max(record.attempt, 1) else [f"{len(children)} children, {record.attempt} calls"]
    one = next((each for each in children if each.pk == record.child_id), None)
    if record.compensation_status == "compensated" and (one is None or one.rollback_status not in UNDONE):
        found.append(f"says compensated, and its child {one and (one.status, one.rollback_status)}")
    return found
