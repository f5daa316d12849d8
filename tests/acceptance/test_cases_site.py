"""Cases about the site around: several databases, async code, its own users and key types."""

from __future__ import annotations

import asyncio

import pytest

from saga_app import Context, DefinitionError, Saga, step
from tests.acceptance.routing import routed, saga_tables, tables_touched
from tests.harness import (
    DONE,
    OK,
    UNWOUND,
    check_promises,
    do,
    elapsed,
    end,
    error,
    fail,
    logged,
    ok,
    order,
    outcomes,
    rec,
    run,
)
from tests.site.models import Order, Tag


def test_c44_the_tables_may_live_elsewhere() -> None:
    """Case C44. Engine tables on another database; reads go there too, and not to a replica that lags."""
    with routed(saga_app="other"):
        assert end(run(Saga("s", do("a")))) == DONE
        assert end(run(Saga("f", do("a", comp=OK), do("b", fail(OSError))))) == UNWOUND
        assert not logged("outside of a transaction")
        check_promises()
        assert tables_touched("other") & saga_tables() and not tables_touched("default") & saga_tables()


def test_c44_async_bodies_are_awaited() -> None:
    """Case C44. Async step functions, with the same retries and timeout."""

    @step(attempts=2)
    async def a() -> int:
        await asyncio.sleep(0.01)
        return await Order.objects.acount()

    @a.compensate
    async def give_back(result: int, ctx: Context) -> None:
        await Tag.objects.acreate(name=f"undone {result}")

    x = run(Saga("x", a, do("b", fail(ValueError))))
    assert end(x) == UNWOUND and rec(x, "a").output == 0 and outcomes(x) == {"a": "compensated"}
    assert Tag.objects.get().name == "undone 0"

    @step(attempts=1, timeout=1)
    async def stuck_call() -> None:
        await asyncio.sleep(60)

    x = run(Saga("y", do("t", comp=OK), stuck_call))
    assert end(x) == UNWOUND and order() == ["t", "~t"] and elapsed() < 10


def test_c44_what_can_be_awaited_is() -> None:
    """Case C44. A coroutine is not stored as a result, nor a generator; and no transaction spans an await."""

    async def one() -> int:
        return 1

    x = run(Saga("z", do("a", ok(one), comp=OK)))
    assert end(x) == DONE and rec(x, "a").output == 1
    x = run(Saga("g", do("a", ok(lambda: (i for i in [])), comp=OK, attempts=3)))
    assert end(x) == UNWOUND and order() == ["a", "~a"] and "generator" in error(x, "a")
    with pytest.raises(DefinitionError):
        step(atomic=True)(one)
