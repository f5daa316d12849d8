"""What a ticket calls in a worker process."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.db import connections

from saga_app import batches, clock, executor, timeouts
from saga_app.queue import board
from saga_app.queue.desk import my_queues
from saga_app.queue.processes import Process, me
from saga_app.store import dues, workers
from saga_app.store.transactions import DatabaseFault, alias

logger = logging.getLogger("saga_app")

PAUSES = (0.2, 0.5, 1.0)  # seconds after which a claim that the database refused is tried again
TOLD_EVERY = 5.0  # seconds between two writes that say that this worker has claimed


class _Last:
    told = float("-inf")


def drive_next(pusher: int, started: int, place: int, number: int) -> None:
    """Claim what is due and drive it, then the next, until the budget is over or the cluster stops.

    Never raises, whatever happens: what escapes from here would end the worker.

    Args:
        pusher: the process that handed the ticket out, which lives as long as the cluster wants work.
        started: when that process did.
        place: the ticket's place on the board.
        number: the ticket's number.
    """
    try:
        here = board.current()
        if here.begin(place, number):
            try:
                _drive(Process(pusher, started), here)
            finally:
                here.end(place, number)
    except BaseException:
        logger.exception("A worker could not drive; what is due stays due.")


def _drive(pusher: Process, here: board.Board) -> None:
    def go_on() -> bool:
        return not here.stopping and pusher.is_alive()

    if not go_on():
        return
    timeouts.hard_stop = True  # the process belongs to a cluster, which replaces it
    claims = _claim_and_drive(go_on)
    if claims and clock.monotonic() - _Last.told >= TOLD_EVERY:
        _Last.told = clock.monotonic()
        workers.claimed(me())


def _claim_and_drive(go_on: Callable[[], bool]) -> int:
    for pause in PAUSES:
        try:
            return _claims(go_on)
        except DatabaseFault as error:  # a connection that was cut while this worker was idle, first of all
            logger.warning("Nothing could be claimed, tried again in %.1f s: %s", pause, error)
            connections[alias()].close()
            clock.sleep(pause)
            if not go_on():
                return 0
    return _claims(go_on)


def _claims(go_on: Callable[[], bool]) -> int:
    """A few items of a batch first, if one is due: where executions are always due, batches have to get their turn."""
    queues = my_queues()
    claims = batches.drive_next(holder=me(), go_on=go_on) if dues.serve_batches(queues) else 0
    return claims + executor.drive_next(holder=me(), go_on=go_on, queues=queues)
