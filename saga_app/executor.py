"""Takes claims, one after another, and has each driven."""

from __future__ import annotations

import logging
from collections.abc import Callable
from uuid import UUID

from django.db import connections

from saga_app import clock
from saga_app.conf import settings
from saga_app.driving import Drive
from saga_app.store import claims
from saga_app.store.transactions import (
    DatabaseFault,
    alias,
    drop_broken_connection,
    durable,
    refuse_inside_transaction,
)

logger = logging.getLogger("saga_app")


def drive_next(*, holder: str, go_on: Callable[[], bool] = lambda: True, budget: float | None = None) -> int:
    """Claim the most urgent due execution, drive it, and take the next, while there is time.

    Args:
        holder: this process, as `host:pid`.
        go_on: asked at each boundary; False ends the drive there, and what it drove is due at once.
        budget: seconds; the setting BUDGET where it is None.

    Returns:
        How many executions were claimed.
    """
    refuse_inside_transaction("drive_next()")
    ends = clock.monotonic() + (settings.BUDGET if budget is None else budget)
    claimed = 0
    while go_on() and clock.monotonic() < ends and drive(None, holder=holder, go_on=go_on, ends=ends):
        claimed += 1
    return claimed


def drive(
    execution_id: UUID | None, *, holder: str, go_on: Callable[[], bool] = lambda: True, ends: float | None = None
) -> bool:
    """Claim that execution, or the most urgent one, if it is due, and drive it until it parks or ends.

    Returns:
        Whether there was one to claim. What went wrong while it was driven is in its records, or in the log.
    """
    refuse_inside_transaction("drive()")
    using = alias()
    if connections[using].vendor == "sqlite" and not claims.is_due(using, execution_id):
        return False  # where every transaction takes the write lock, look first
    driver = _claimed(claims.holder_for(holder), using, execution_id)
    if driver is None:
        return False
    driver.go_on, driver.ends = go_on, clock.monotonic() + settings.BUDGET if ends is None else ends
    driver.drive()
    return True


def _claimed(holder: str, using: str, execution_id: UUID | None) -> Drive | None:
    """A claim and its first write in one transaction; what cannot be decided under the lock waits until after it."""
    driver: Drive | None = None
    try:
        with durable(using):
            driver = _take(holder, using, execution_id)
            if driver is not None:
                driver.begin()
    except Exception as error:
        drop_broken_connection(using)
        if driver is None:
            raise
        if not isinstance(error, DatabaseFault) or not claims.is_there(driver.claim):
            logger.exception("Execution %s could not be begun together with its claim.", driver.claim.execution_id)
            driver = _alone(holder, using, driver.claim.execution_id)
    if driver is not None:
        driver.begun()
    return driver


def _alone(holder: str, using: str, execution_id: UUID) -> Drive | None:
    """A claim and nothing else: it counts as a death, so that a row that no worker can begin does not come for ever."""
    with durable(using):
        return _take(holder, using, execution_id)


def _take(holder: str, using: str, execution_id: UUID | None) -> Drive | None:
    taken = claims.take(holder, using, execution_id)
    return None if taken is None else Drive(*taken)
