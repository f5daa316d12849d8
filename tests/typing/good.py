"""What people write and type checkers must accept, with the types they must see."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, assert_type
from uuid import UUID

from saga_app import Backoff, Context, Happened, NotHappened, Pivot, Saga, Unknown, ref, step
from saga_app.core.steps import Step


class CardDeclined(Exception):
    """A provider's error."""


@dataclass
class PlaceOrder:
    order_id: int
    total: Decimal
    card: str = ""


@step(
    provides="charge_id", rejected_on=(CardDeclined,), timeout=timedelta(seconds=10), backoff=Backoff(first=1, max=60)
)
def charge(card: str, total: Decimal, ctx: Context) -> str:
    return f"{card} {total} {ctx.idempotency_key}"


@charge.compensate(attempts=10, retry_on=OSError)
def refund(result: str, ctx: Context) -> None:
    ctx.progress(0.5, result)


@charge.reconcile
def find(ctx: Context) -> Happened[str] | NotHappened | Unknown:
    return Happened("c1") if ctx.outcome == "unknown" else NotHappened()


@step
async def fetch(url: str, *, retries: int = 1) -> bytes:
    return url.encode() * retries


@fetch.compensate
async def forget(url: str) -> None: ...


@step(atomic=True, timeout=None)
def create_invoice(order_id: int, charge_id: str) -> int:
    return order_id + len(charge_id)


named = step(lambda: 1, name="one")

# A step keeps its signature, and so do its copies; a handler stays a function.
ctx = Context(execution_id=UUID(int=1), saga="s", path="charge", attempt=1, idempotency_key="k")
assert_type(charge("visa", Decimal(1), ctx=ctx), str)
coroutine: Coroutine[Any, Any, bytes] = fetch("x", retries=2)
assert_type(create_invoice(1, charge_id="c"), int)
assert_type(create_invoice.bind(order_id=ref("input.order_id"))(1, "c"), int)
assert_type(create_invoice.named("again", compensate=False)(1, "c"), int)
assert_type(named(), int)
handler: Callable[[str, Context], None] = refund
one_step: Step[..., Any] = charge


def priced(card: str, ctx: Context) -> Decimal:
    return Decimal(len(card) + ctx.attempt)


# With a dataclass, start() takes one; without, or with a callable, values by name.
typed = Saga("typed", charge, create_invoice, Pivot(), fetch.bind(url="x"), input=PlaceOrder, output=ref("charge_id"))
loose = Saga("loose", charge.bind(total=priced), Pivot(), revision=2, on_failure="hold", title="Loose")


def fields(card: str, total: Decimal = Decimal(1)) -> Mapping[str, object]:
    return {"card": card, "total": total}


by_callable = Saga("by-callable", charge, input=fields)

assert_type(typed, Saga[PlaceOrder])
assert_type(loose, Saga[Mapping[str, Any]])
assert_type(by_callable, Saga[Mapping[str, Any]])


async def start_all() -> None:
    order = PlaceOrder(1, Decimal(1), "visa")
    typed.start(order, key="order-1", actor=None)
    typed.using(priority=-1, due=datetime.now(UTC)).start(order)
    typed.run(order)
    await typed.astart(order)
    await typed.using().arun(order)
    loose.start(card="visa", priority="a field", key="k")
    loose.start({"card": "visa"})
    loose.run(card="visa")
    by_callable.start(card="visa")
    await loose.astart(card="visa")
