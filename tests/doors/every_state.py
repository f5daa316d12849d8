"""One execution in each state that an operator may meet, made by really running a saga, with hostile text in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.test import override_settings

from saga_app import Backoff, Context, Pivot, Saga, step, testing
from saga_app.core import registry
from saga_app.core.steps import Step
from saga_app.models import Execution
from tests.site.models import Tag

HOSTILE = "</script><img src=x onerror=alert(1)>{{7*7}}\x00\ud800\u202e"
AT_ONCE = Backoff(first=0, jitter=0)
LATER = Backoff(first=60, max=60, jitter=0)

down: set[str] = set()
"""The names of what fails now; tests take a name out to mend it."""


def act(name: str, *, undo: bool = True, wait: Backoff = AT_ONCE, **options: Any) -> Step[..., Any]:
    """A step that returns hostile text, or fails with it while it is `down`; so does its compensation, `~name`."""

    def body(note: str, ctx: Context) -> dict[str, str]:
        if name in down:
            raise OSError(f"{name} is down: {note}")
        return {"answer": note}

    def back(ctx: Context) -> None:
        if f"~{name}" in down:
            raise OSError(f"no way back from {name}: {HOSTILE}")

    made = step(name=name, backoff=wait, **{"attempts": 2, **options})(body)
    if undo:
        made.compensate(attempts=2, backoff=wait)(back)
    return made


def order(*nodes: Any, **options: Any) -> Saga[Any]:
    return Saga("order", *nodes, **options)


def run(*nodes: Any, key: str | None = None, broken: str = "", **options: Any) -> Execution:
    """Run the saga of these nodes with those names down."""
    down.clear()
    down.update(broken.split())
    return testing.run(order(*nodes, **options), note=HOSTILE, key=key)


def pending() -> Execution:
    return order(act("reserve")).start(note=HOSTILE, key="order-1 <b>")


def waiting() -> Execution:
    return run(act("reserve"), act("charge", wait=LATER), broken="charge")


def suspended() -> Execution:
    execution = order(act("reserve")).start(note=HOSTILE)
    execution.suspend(reason=HOSTILE.replace("\ud800", ""))
    testing.drain()
    return again(execution)


def compensating() -> Execution:
    return run(act("reserve", wait=LATER), act("charge", undo=False), broken="charge ~reserve")


def stuck_going_back() -> Execution:
    return run(act("reserve"), act("charge"), act("ship"), broken="ship ~charge")


def stuck_past_the_pivot() -> Execution:
    return run(act("reserve"), Pivot(), act("ship"), broken="ship")


def stuck_held() -> Execution:
    return run(act("reserve"), act("charge"), broken="charge", on_failure="hold")


def stuck_unknown() -> Execution:
    """Its compensation needs a result, and the step raised: nobody knows what there is to undo."""
    charge = act("charge", undo=False)

    @charge.compensate
    def refund(result: dict[str, str]) -> None:
        raise AssertionError(result)

    return run(act("reserve"), charge, broken="charge")


def stuck_undecodable() -> Execution:
    """The row that its output refers to is gone when the compensation needs it."""

    @step(name="tag", attempts=1)
    def tag(note: str, ctx: Context) -> Tag:
        return Tag.objects.create(name="x")

    @tag.compensate
    def untag(result: Tag) -> None:
        result.delete()

    @step(name="lose", attempts=1)
    def lose(note: str, ctx: Context) -> None:
        Tag.objects.all().delete()
        raise OSError(note)

    return run(tag, lose)


def stuck_without_definition() -> Execution:
    execution = order(act("reserve")).start(note=HOSTILE)
    with registry.isolate(), override_settings(SAGA={"DEFINITION_GRACE": 0}):
        testing.drain()
    return again(execution)


def completed() -> Execution:
    return run(act("reserve"), act("thank", required=False), broken="thank")


def failed() -> Execution:
    return run(act("reserve"), act("charge"), act("ship"), broken="ship")


def undone_by_hand() -> Execution:
    execution = stuck_going_back()
    execution.resolve("charge", reason="paid back by hand")
    testing.drain()
    return again(execution)


def cancelled() -> Execution:
    execution = waiting()
    execution.cancel(reason=HOSTILE.replace("\ud800", ""))
    testing.drain()
    return again(execution)


def abandoned() -> Execution:
    execution = stuck_going_back()
    return execution.abandon(reason="the customer keeps it")


def again(execution: Execution) -> Execution:
    return Execution.objects.get(pk=execution.pk)


STATES: dict[str, tuple[Callable[[], Execution], str]] = {
    "pending": (pending, "pending"),
    "waiting": (waiting, "waiting"),
    "suspended": (suspended, "suspended"),
    "compensating": (compensating, "compensating"),
    "stuck going back": (stuck_going_back, "stuck compensation_failed"),
    "stuck past the pivot": (stuck_past_the_pivot, "stuck failed_past_pivot"),
    "stuck held": (stuck_held, "stuck step_failed"),
    "stuck unknown": (stuck_unknown, "stuck outcome_unknown"),
    "stuck undecodable": (stuck_undecodable, "stuck undecodable"),
    "stuck without definition": (stuck_without_definition, "stuck definition_missing"),
    "completed": (completed, "completed"),
    "failed": (failed, "failed"),
    "undone by hand": (undone_by_hand, "failed"),
    "cancelled": (cancelled, "cancelled"),
    "abandoned": (abandoned, "failed"),
}


def make(state: str) -> Execution:
    """An execution in that state, which it really is in."""
    build, says = STATES[state]
    execution = again(build())
    assert f"{execution.status} {execution.stuck_reason}".strip() == says
    return execution
