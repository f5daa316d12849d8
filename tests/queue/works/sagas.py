"""Sagas that are quick, slow, deadly, stubborn, or meddle with the queue."""

from __future__ import annotations

import os
import signal
import time

from django_q.tasks import async_task

from saga_app import Backoff, Context, Saga, step
from tests.queue.works.notes import note
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
