"""Sagas that are quick, slow, deadly, stubborn, or meddle with the queue."""

from __future__ import annotations

import os
import signal
import time

from django_q.tasks import async_task

from saga_app import Approval, Backoff, Child, Context, ForEach, Parallel, Saga, Sleep, Wait, ref, step
from tests.queue.works.notes import note, notes
from tests.site.models import Tag

SOON = Backoff(first=0.01, max=0.01, jitter=0)


@step(idempotent=True)
def greet(name: str) -> str:
    note("greet", name)
    return f"hello {name}"


quick = Saga("works-quick", greet)


@step(attempts=5, backoff=SOON)
def walk(seconds: float, ctx: Context) -> None:
    note("walk", ctx.path, ctx.attempt, ctx.idempotency_key)
    time.sleep(seconds)
    note("walked", ctx.path)


@step(attempts=1)
def pay(ctx: Context) -> None:
    """Fails until the provider is mended."""
    if not notes("mended"):
        raise OSError("the provider is down")
    note("paid", ctx.execution_id)


held = Saga("works-held", pay, on_failure="hold")

slow = Saga("works-slow", walk.named("first"), walk.named("second"), walk.named("third"))


@step(attempts=3, backoff=SOON)
def die_once(ctx: Context) -> None:
    note("die", ctx.attempt, ctx.idempotency_key)
    if ctx.attempt == 1:
        os.kill(os.getpid(), signal.SIGKILL)


deadly = Saga("works-deadly", die_once)


@step(attempts=1)
def prepare() -> None:
    note("prepare")


@prepare.compensate
def tidy() -> None:
    note("tidy")


@step(attempts=1, timeout=1)
def freeze(ctx: Context) -> None:
    """Hold the interpreter in C code: no signal, no other thread."""
    note("freeze", ctx.attempt)
    sum(range(10**11))
    note("thawed")


@freeze.compensate
def warm(ctx: Context) -> None:
    note("warm", ctx.outcome)


frozen = Saga("works-frozen", prepare, freeze)


@step(attempts=3, backoff=SOON)
def leave(ctx: Context) -> None:
    note("leave", ctx.attempt)
    raise SystemExit(3)


leaving = Saga("works-leaving", prepare, leave)


@step(atomic=True)
def enqueue(name: str) -> None:
    Tag.objects.create(name=name)
    async_task("tests.queue.works.tasks.say", name)
    assert Tag.objects.filter(name=name).exists()


enqueuing = Saga("works-enqueuing", enqueue)


many = Saga("works-many", ForEach("item", ref("input.items"), walk, concurrency=50))

side_by_side = Saga(
    "works-side-by-side", Parallel(walk.named("first"), walk.named("second"), walk.named("third")), walk.named("last")
)

deadly_group = Saga("works-deadly-group", Parallel(die_once, walk.named("beside").bind(seconds=0.1)))


@step(idempotent=True, queue="slow")
def print_label() -> None:
    note("print")


@print_label.compensate
def tear_up() -> None:
    note("tear-up")


@step(attempts=1)
def refuse() -> None:
    note("refuse")
    raise ValueError("no")


labelled = Saga("works-labelled", print_label, walk.named("after").bind(seconds=0.01))
torn = Saga("works-torn", print_label, refuse)
whole = Saga("works-whole", walk.named("alone").bind(seconds=0.01), queue="slow")


greeting = Saga("works-greeting", greet.named("greet_child"), output=ref("greet_child"))
resting = Saga(
    "works-resting",
    Sleep(1.5),
    Wait("word", timeout=60),
    Approval("fine", allow=lambda actor: actor.is_staff, timeout=60),
    Child(greeting).bind(name=ref("word.name")),
    greet.named("after").bind(name="you"),
)
