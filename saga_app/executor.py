"""Takes claims, one after another, and has each driven: of executions, and of queued steps."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar
from uuid import UUID

from django.db import connections

from saga_app import clock
from saga_app.conf import settings
from saga_app.driver import Driver
from saga_app.driving import Drive
from saga_app.queued import QueuedStep
from saga_app.store import claims, row_claims
from saga_app.store.claims import Queues
from saga_app.store.transactions import (
    DatabaseFault,
    alias,
    drop_broken_connection,
    durable,
    refuse_inside_transaction,
)

logger = logging.getLogger("saga_app")

LOOK_AGAIN = 0.05  # seconds for which steps are not looked for when there were none, as long as there are executions
PAUSES = (0.005, 0.01, 0.02, 0.04)  # seconds after which a queued step is looked for again whose execution was locked


D = TypeVar("D", bound=Driver[Any, Any])


@dataclass(frozen=True, slots=True)
class _Search:
    """What to claim: of that execution, or of these queues."""

    worker: str
    using: str
    execution_id: UUID | None = None
    queues: Queues = None


_Kind = Callable[[_Search, Callable[[], bool], float], bool]
"""Claims one thing of a kind, if one is due, and drives it: of what is searched, while it may go on, until then."""


def drive_next(
    *, holder: str, go_on: Callable[[], bool] = lambda: True, budget: float | None = None, queues: Queues = None
) -> int:
    """Claim the most urgent thing that is due, drive it, and take the next, while there is time.

    Executions and queued steps take turns, so that neither waits for the other to be done.

    Args:
        holder: this process, as `host:pid`.
        go_on: asked at each boundary; False ends the drive there, and what it drove is due at once.
        budget: seconds; the setting BUDGET where it is None.
        queues: the queues that are served; None: all.

    Returns:
        How many claims were made.
    """
    refuse_inside_transaction("drive_next()")
    search = _Search(holder, alias(), queues=queues)
    ends = clock.monotonic() + (settings.BUDGET if budget is None else budget)
    first: _Kind = _execution
    other: _Kind = _queued_step
    other_idle_at, claimed = float("-inf"), 0
    while go_on() and (now := clock.monotonic()) < ends:
        if first(search, go_on, ends):
            if now - other_idle_at >= LOOK_AGAIN:
                first, other = other, first
        elif other(search, go_on, ends):
            first, other, other_idle_at = other, first, now
        else:
            break
        claimed += 1
    return claimed


def drive(
    execution_id: UUID | None,
    *,
    holder: str,
    go_on: Callable[[], bool] = lambda: True,
    ends: float | None = None,
) -> bool:
    """Claim that execution, or the most urgent one, or a queued step of it, if one is due, and drive what was claimed.

    Returns:
        Whether there was one to claim. What went wrong while it was driven is in its records, or in the log.
    """
    refuse_inside_transaction("drive()")
    search = _Search(holder, alias(), execution_id)
    ends = clock.monotonic() + settings.BUDGET if ends is None else ends
    return _execution(search, go_on, ends) or _queued_step(search, go_on, ends)


def drive_step(execution_id: UUID | None, *, holder: str) -> bool:
    """Claim a queued step of that execution, or the most urgent one, if one is due, and make its call.

    Who drives alone calls all that wait before the execution looks at what they told: it looks at all of its records.

    Returns:
        Whether there was one to claim.
    """
    refuse_inside_transaction("drive_step()")
    return _queued_step(_Search(holder, alias(), execution_id), lambda: True, 0.0)


def _execution(search: _Search, go_on: Callable[[], bool], ends: float) -> bool:
    using = search.using
    if connections[using].vendor == "sqlite" and not claims.is_due(using, search.execution_id, queues=search.queues):
        return False  # where every transaction takes the write lock, look first
    driver = _claimed(search, _take_execution)
    if driver is None:
        return False
    driver.go_on, driver.ends = go_on, ends
    driver.drive()
    return True


def _queued_step(search: _Search, _go_on: Callable[[], bool], _ends: float) -> bool:
    """One call, and so one boundary. Who finds all due rows behind locks looks again: those of a claim are short."""
    using = search.using
    for pause in (0.0, *PAUSES):
        if pause:
            clock.sleep(pause)
        if not row_claims.is_due(using, search.execution_id, queues=search.queues):
            return False
        driver = _claimed(search, _take_queued_step)
        if driver is not None:
            driver.drive()
            return True
    return False


def _claimed(search: _Search, take: Callable[[_Search], D | None]) -> D | None:
    """A claim and its first write in one transaction; what cannot be decided under the lock waits until after it."""
    driver: D | None = None
    try:
        with durable(search.using):
            driver = take(search)
            if driver is not None:
                driver.begin()
    except Exception as error:
        drop_broken_connection(search.using)
        if driver is None:
            raise
        if not isinstance(error, DatabaseFault) or not driver.is_there():
            logger.exception("Execution %s could not be begun together with its claim.", driver.claim.execution_id)
            driver = _alone(search, take, driver.claim.execution_id, error)
    if driver is not None:
        driver.begun()
    return driver


def _alone(search: _Search, take: Callable[[_Search], D | None], execution_id: UUID, error: Exception) -> D | None:
    """A claim and nothing else: it counts as a death, so that a row that no worker can begin does not come for ever."""
    with durable(search.using):
        driver = take(replace(search, execution_id=execution_id))
        if driver is not None:
            driver.alone(error)
    return driver


def _take_execution(search: _Search) -> Drive | None:
    taken = claims.take(claims.holder_for(search.worker), search.using, search.execution_id, queues=search.queues)
    return None if taken is None else Drive(*taken)


def _take_queued_step(search: _Search) -> QueuedStep | None:
    holder = claims.holder_for(search.worker)
    taken = row_claims.take(holder, search.using, search.execution_id, queues=search.queues)
    return None if taken is None else QueuedStep(*taken)
