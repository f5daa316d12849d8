"""When an execution worked and when it waited: its records and their attempts, folded into bars.

Two lanes: forward, and back. A record has a row in each lane in which something became of it, and a row has a bar for
each attempt and for each wait between, before and after them. What is not over has a bar without an end.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import zip_longest
from typing import TYPE_CHECKING

from saga_app.core.attempts import LOST, Attempt, attempts_of
from saga_app.core.outcomes import Direction
from saga_app.core.status import CompensationStatus, Status, StepStatus

if TYPE_CHECKING:
    from saga_app.core.snapshot import Record, Snapshot

MOST = 12  # bars of one row: the latest; the step itself tells of more


class Lane(StrEnum):
    """The direction of a row."""

    FORWARD = "forward"
    BACK = "back"


class Why(StrEnum):
    """What a wait was for."""

    WORKER = "worker"
    QUEUE = "queue"
    BACKOFF = "backoff"
    OUTCOME = "outcome"  # until it was known, or said, what became of an attempt
    OPERATOR = "operator"
    WAIT = "wait"
    APPROVAL = "approval"
    SLEEP = "sleep"
    CHILD = "child"


@dataclass(frozen=True, slots=True)
class Bar:
    """One stretch of time.

    Attributes:
        start: its beginning.
        end: its end; None while it goes on.
        outcome: of an attempt, how it ended; empty while it has not.
        attempt: of an attempt, its number.
        why: of a wait, what for; None of an attempt.
    """

    start: datetime
    end: datetime | None
    outcome: str = ""
    attempt: int | None = None
    why: Why | None = None

    @property
    def works(self) -> bool:
        """Somebody was at it."""
        return self.why is None


@dataclass(frozen=True, slots=True)
class Row:
    """A record in one lane; the one without a path is the execution, before anything of it began.

    Attributes:
        lane: which.
        record: of what; None of the execution itself.
        bars: from left to right, none of them empty of meaning.
        more: earlier bars that are left out.
    """

    lane: Lane
    record: Record | None
    bars: tuple[Bar, ...]
    more: int = 0

    @property
    def start(self) -> datetime:
        """When it began."""
        return self.bars[0].start


def timeline(x: Snapshot, created_at: datetime) -> list[Row]:
    """The rows: forwards in the order in which they were called, then those of the way back.

    What a fork took over was done elsewhere, before: it has no row forwards.
    """
    begun = x.started_at or x.finished_at
    rows = []
    if begun is None or begun > created_at:
        rows.append(Row(Lane.FORWARD, None, (Bar(created_at, begun, why=Why.WORKER),)))
    for record in x.records:
        if record.origin is None or record.finished_at is None or record.finished_at >= created_at:
            rows += _row(x, Lane.FORWARD, record, _forward(record, x.unwinding_at))
    back = [row for record in x.records for row in _row(x, Lane.BACK, record, _back(record, x.unwinding_at))]
    return rows + sorted(back, key=lambda row: row.start)


def windows(rows: Sequence[Row], size: int) -> list[Sequence[Row]]:
    """The rows in pages of about so many bars; at least one."""
    pages: list[list[Row]] = [[]]
    count = 0
    for row in rows:
        if count and count + len(row.bars) > size:
            pages.append([])
            count = 0
        pages[-1].append(row)
        count += len(row.bars)
    return list(pages)


def _row(x: Snapshot, lane: Lane, record: Record, bars: Iterator[Bar]) -> list[Row]:
    """The row, if it has bars. That at which it is stuck waits for an operator."""
    found = tuple(bars)
    halted = x.status == Status.STUCK and x.failing_path == record.path and x.unwinding == (lane is Lane.BACK)
    if halted and found and (end := found[-1].end) is not None:
        found += (Bar(end, None, why=Why.OPERATOR),)
    return [Row(lane, record, found[-MOST:], max(len(found) - MOST, 0))] if found else []


def _forward(record: Record, unwinding_at: datetime | None) -> Iterator[Bar]:
    """Of its forward calls; of what is waited for, one wait."""
    if record.started_at is None:
        return
    if record.kind in ("wait", "approval", "sleep", "child"):
        over = None if record.status == StepStatus.WAITING else record.finished_at or record.started_at
        yield _wait(record.started_at, over, Why(record.kind))
        return
    calls = [one for one in attempts_of(record) if _is_forward(one, unwinding_at)]
    first = Why.QUEUE if record.queue else Why.WORKER
    at = yield from _calls(record.started_at, calls, first, record.finished_at)
    if at is None:
        return
    if record.status == StepStatus.RUNNING and not calls:
        yield Bar(at, None)  # an atomic call has no attempt before it has ended
    elif record.status in (StepStatus.RUNNING, StepStatus.WAITING, StepStatus.QUEUED):
        yield Bar(at, None, why=Why.OUTCOME if record.status == StepStatus.RUNNING else _waits(calls, first))
    elif record.finished_at is not None and record.finished_at > at:
        yield Bar(at, record.finished_at, why=Why.BACKOFF if calls and calls[-1].due else Why.OUTCOME)
    elif not calls:
        yield Bar(at, max(at, record.finished_at or at), outcome=str(record.status))  # a clock may have gone back


def _back(record: Record, unwinding_at: datetime | None) -> Iterator[Bar]:
    """Of its compensation, and of what was asked on the way back."""
    status, finished = record.compensation_status, record.compensation_finished_at
    calls = [one for one in attempts_of(record) if not _is_forward(one, unwinding_at)]
    began = calls[0].started if calls else record.compensation_started_at or (unwinding_at if status else None)
    if began is None or (not calls and status == CompensationStatus.ABANDONED):
        return
    if record.kind == "child":
        yield _wait(began, None if status == CompensationStatus.RUNNING else finished or began, Why.CHILD)
        return
    at = yield from _calls(began, calls, Why.QUEUE, finished)
    if at is None:
        return
    if status in (CompensationStatus.WAITING, CompensationStatus.RUNNING):
        unseen = Why.OUTCOME if calls else None
        yield Bar(at, None, why=unseen if status == CompensationStatus.RUNNING else _waits(calls, Why.QUEUE))
    elif finished is not None and finished > at:
        yield Bar(at, finished, why=Why.OPERATOR)
    elif not calls:
        yield Bar(at, at, outcome=str(status))


def _calls(
    at: datetime, calls: Sequence[Attempt], first: Why, finished: datetime | None
) -> Generator[Bar, None, datetime | None]:
    """Each call with the wait before it. Returns when the last of them ended; None where it has not."""
    before: Attempt | None = None
    for call, following in zip_longest(calls, calls[1:]):
        start = call.started
        if call.ended == start and call.direction is not Direction.RECONCILE:  # written with its end
            start = at if before is None or before.due is None else min(max(at, before.due), start)
        if start > at:
            yield Bar(at, start, why=first if before is None else _why(before))
        end = _end(call, start, following.started if following else finished)
        if end is None and following is None:
            yield Bar(start, None, call.outcome, call.number)
            return None
        at, before = end or start, call
        yield Bar(start, at, call.outcome or LOST, call.number)
    return at


def _end(call: Attempt, start: datetime, limit: datetime | None) -> datetime | None:
    """When it ended; where nobody saw that, when something else began. None: it goes on."""
    if call.ended is not None:
        return max(call.ended, start)
    if not call.outcome:
        return None
    return start if limit is None else max(limit, start)


def _waits(calls: Sequence[Attempt], first: Why) -> Why:
    """What is waited for now."""
    return _why(calls[-1]) if calls else first


def _why(before: Attempt) -> Why:
    """What was waited for after an attempt."""
    if before.due is not None:
        return Why.BACKOFF
    return Why.OUTCOME if before.outcome in (LOST, "timed_out") else Why.OPERATOR


def _is_forward(call: Attempt, unwinding_at: datetime | None) -> bool:
    if call.direction is Direction.RECONCILE:
        return unwinding_at is None or call.started < unwinding_at
    return call.direction is Direction.FORWARD


def _wait(start: datetime, over: datetime | None, why: Why) -> Bar:
    return Bar(start, None if over is None else max(start, over), why=why)
