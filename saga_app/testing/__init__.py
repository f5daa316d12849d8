"""For the tests of people who write sagas: run one here, hold the clock, swap a step's body.

    from django.test import TestCase
    from saga_app import RetryLater, testing
    from shop.sagas import place_order, ship

    class PlaceOrderTests(TestCase):
        def test_a_closed_warehouse_stops_it(self):
            def closed():
                raise RetryLater(3600)

            self.addCleanup(testing.clock.release)
            with testing.replace(ship, closed):
                execution = testing.run(place_order, sku="A1", qty=2)
                testing.clock.forward(3600)  # stops the clock, at the next attempt's time
                testing.drain()
            execution.refresh_from_db()
            self.assertEqual("stuck", execution.status)  # ship has attempts=2

Real records and the real engine; no queue, no worker. Works inside a TestCase, whose transaction is rolled back, and
outside of one; with unittest and with pytest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from typing import Any

from saga_app import clock as real_clock
from saga_app.core import registry
from saga_app.core.context import Context
from saga_app.core.starting import Starting
from saga_app.core.steps import Step
from saga_app.models import Execution
from saga_app.queue import inline
from saga_app.store.transactions import inside_transactions
from saga_app.testing.held_clock import Clock, clock_of_this_process
from saga_app.testing.stand_ins import standing_in

__all__ = ["Clock", "clock", "drain", "isolate_sagas", "make_context", "replace", "run"]

clock = clock_of_this_process()


def run(saga: Starting[Any], input: Any = None, /, **values: Any) -> Execution:
    """Start a saga and drive it in this process until it waits for something or ends.

    Args:
        saga: the saga, or `saga.using(…)`.
        input: its input, as for `saga.start`.
        **values: the input field by field; `key` and `actor` as for `saga.start`.

    Returns:
        The Execution as it is then: ended, stuck, or waiting for a time. Move the clock and call `drain` to go on.

    Raises:
        What `saga.start` raises: InputError, UnsupportedValue, KeyConflict, DefinitionError. Nothing that a body
        raises: that is in `execution.error` and in the step records.
    """
    with inside_transactions():
        return saga.run(input, **values)


def drain() -> int:
    """Drive whatever is due by now, in this process, until nothing is. Returns how many times one was claimed."""
    with inside_transactions():
        return inline.run_until_idle()


def make_context(**fields: Any) -> Context:
    """A Context to call a body with, outside of any saga.

    Args:
        **fields: any field of Context; the rest is plausible: attempt 1 of a step "step" with 30 seconds left, no
            input, no results, no outcome, and keys as the engine makes them.
    """
    execution_id = fields.setdefault("execution_id", real_clock.uuid7())
    path = fields.setdefault("path", "step")
    plausible: dict[str, Any] = {
        "saga": "saga",
        "results": {},
        "attempt": 1,
        "deadline": real_clock.now() + timedelta(seconds=30),
        "outcome": "",
        "idempotency_key": f"saga:{execution_id}:{path}:forward",
        "forward_idempotency_key": f"saga:{execution_id}:{path}:forward",
    }
    given = fields.pop("input", {})
    return Context(**{**plausible, "ask_input": lambda: given, **fields})


@contextmanager
def replace(step: Step[..., Any], function: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """Let a step call another function while the with block lasts, in every saga that uses it or a copy of it.

    Args:
        step: the step; `.bind` and `.named` copies of it call the new function too.
        function: called by name with those of the step's arguments that it has parameters for; `lambda: 1` and
            `lambda **all: all` both do. It may return, raise, and be async, like any body.

    Raises:
        TypeError: it has a parameter without a default that the step does not have.
    """
    given: object = step
    if not isinstance(given, Step):
        name = getattr(given, "__name__", type(given).__name__)
        raise TypeError(f"{name} is no step: a compensation is tested by replacing what it calls")
    before = step.bodies.function
    step.bodies.function = standing_in(before, function)
    try:
        yield function
    finally:
        step.bodies.function = before


def isolate_sagas() -> AbstractContextManager[None]:
    """Let sagas defined inside the with block be known there only, and those outside be unknown there.

    Inside, a later saga takes the place of an earlier one of the same name and revision.
    """
    return registry.isolate()
