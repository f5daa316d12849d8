"""What `ctx` is in one call: made for it, and asking back on the thread that has the connection."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from asgiref.sync import AsyncToSync

from saga_app import clock
from saga_app.core.context import Context
from saga_app.core.keys import COMPENSATE, FORWARD, idempotency_key
from saga_app.core.outcomes import Direction
from saga_app.core.saga import Saga
from saga_app.core.snapshot import Record
from saga_app.core.status import StepStatus
from saga_app.core.steps import Step
from saga_app.store.leases import Lease
from saga_app.store.texts import cancel_requested, report_progress
from saga_app.values import Results, Values

Ask = Callable[[Callable[[], Any]], Any]
PROGRESS_EVERY = 1.0  # seconds between two writes of what a body reports


@dataclass(frozen=True, slots=True)
class Site:
    """Where a call stands.

    Attributes:
        step: what is called; None for a value that is read where nothing is called.
        path: its place.
        record: its record, once there is one.
        direction: which of its functions.
    """

    step: Step[..., Any] | None
    path: str
    record: Record | None
    direction: Direction


def context(saga: Saga[Any], values: Values, claim: Lease, site: Site) -> Context:
    """The context of one call."""
    back = site.direction is Direction.COMPENSATE
    handler = site.step.compensation if site.step and back else site.step
    timeout = handler.policy.timeout if handler else None
    attempt = (site.record.compensation_attempt if back else site.record.attempt) if site.record else 1
    forward = key_of(values, site.path, FORWARD)
    seen, here = values.at(site.path), asker()
    return Context(
        execution_id=claim.execution_id,
        saga=saga.name,
        path=site.path,
        attempt=max(attempt, 1),
        idempotency_key=key_of(values, site.path, COMPENSATE) if back else forward,
        forward_idempotency_key="" if site.direction is Direction.FORWARD else forward,
        ask_input=lambda: here(lambda: saga.make_input(dict(values.input))),
        results=Results(saga, seen, here),
        index=seen.index,
        deadline=None if timeout is None else claim.moment() + timedelta(seconds=timeout),
        outcome=_outcome(site.record) if site.record and site.direction is not Direction.FORWARD else "",
        ask_cancelled=lambda: bool(here(lambda: cancel_requested(claim))),
        tell_progress=_teller(claim, site.path, here),
    )


def key_of(values: Values, path: str, direction: str) -> str:
    """A function of execution, path and direction; a record that a fork has taken over keeps its keys."""
    record = values.facts.record(path)
    return idempotency_key((record and record.origin) or values.claim.execution_id, path, direction)


def _teller(claim: Lease, path: str, here: Ask) -> Callable[[float, str], None]:
    told = [-PROGRESS_EVERY * 2]

    def tell(fraction: float, text: str) -> None:
        if clock.monotonic() - told[0] >= PROGRESS_EVERY or fraction >= 1:
            told[0] = clock.monotonic()
            here(lambda: report_progress(claim, path, fraction, text))

    return tell


def asker() -> Ask:
    """What calls a function on this thread, from wherever it is asked: a coroutine's has no connection of ours.

    This thread waits in async_to_sync meanwhile and runs what is handed to it; that is asgiref's own way back.
    """
    owner = threading.get_ident()

    def ask(function: Callable[[], Any]) -> Any:
        executor = getattr(AsyncToSync.executors, "current", None)
        if executor is None or threading.get_ident() == owner:
            return function()
        return executor.submit(function).result()

    return ask


def _outcome(record: Record) -> Any:
    if record.status == StepStatus.COMPLETED or record.output_text is not None:  # reconcile may have found it
        return "completed"
    return "failed" if record.outcome_known else "unknown"
