"""What people write and type checkers must accept, with the types they must see."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, assert_type
from uuid import UUID

from saga_app import (
    Approval,
    Backoff,
    Branch,
    Child,
    Compute,
    Context,
    Decision,
    ForEach,
    Happened,
    If,
    Milestone,
    NotHappened,
    Parallel,
    Pivot,
    Repeat,
    Saga,
    Sleep,
    Try,
    Unknown,
    Wait,
    While,
    ref,
    step,
)
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


# Control flow: nodes of any kind, in each other, a lone node or a list where a block is wanted.


def is_big(total: Decimal) -> bool:
    return total > 100


def method(card: str) -> str:
    return card


def may(actor: Any) -> bool:
    return actor is not None


async def find_lines(order_id: int) -> list[str]:
    return [str(order_id)]


def decided(approve: Decision) -> datetime:
    assert_type(approve.approved, bool)
    return approve.at or datetime.now(UTC)


sum_of = Compute("sum_of", is_big, attempts=5, timeout=timedelta(seconds=1))
assert_type(sum_of(Decimal(1)), bool)
assert_type(sum_of.named("other").bind(total=ref("input.total"))(Decimal(2)), bool)

nodes = Saga(
    "nodes",
    Branch(method, visa=charge, invoice=[create_invoice, fetch.bind(url="x")], default=[]).named("pay_by"),
    If(is_big, charge.named("a"), Wait("paid"), otherwise=fetch.named("b")).bind(total=1),
    If(sum_of, charge.named("c")),
    Parallel(charge.named("d"), If(is_big, Milestone("m")), hotel=[charge.named("e"), Sleep(60)], x=fetch),
    While(is_big, charge.named("f"), max_iterations=3),
    Repeat(charge.named("g"), Milestone("half"), until=is_big),
    ForEach("line", ref("input.lines"), charge.named("h"), concurrency=4).named("lines", provides="packed"),
    ForEach("row", find_lines, Try(charge.named("i"), catch=(CardDeclined, OSError), recover=fetch.named("j"))),
    Child(typed).bind(order_id=1, card=ref("input.card"), total=priced).named("kid", compensate=False),
    Child("loose"),
    Wait("go", timeout=timedelta(days=1), on_timeout=[fetch.named("k")]).named("go_again", provides="payload"),
    Approval("approve", permission="shop.approve", input=PlaceOrder, timeout=60, on_timeout="fail", four_eyes=True),
    Approval("again", allow=may, on_reject=[Sleep(timedelta(hours=1)).named("rest")]),
    Sleep(until=decided).named("until"),
    Sleep(until=datetime.now(UTC)).named("now"),
    Sleep(ref("input.delay")).named("later"),
    Pivot(),
    Milestone("done"),
    timeout=timedelta(days=30),
    queue="slow",
)
assert_type(nodes, Saga[Mapping[str, Any]])
row: list[Step[..., Any]] = [charge, create_invoice]
listed = Saga("listed", *row, Parallel(*row, first=row), Try(*row, recover=row))
heavy = step(queue="slow")(is_big)
assert_type(heavy(Decimal(1)), bool)


async def start_all() -> None:
    order = PlaceOrder(1, Decimal(1), "visa")
    typed.start(order, key="order-1", actor=None)
    typed.using(queue="slow", priority=-1, due=datetime.now(UTC)).start(order)
    typed.run(order)
    await typed.astart(order)
    await typed.using().arun(order)
    loose.start(card="visa", priority="a field", key="k")
    loose.start({"card": "visa"})
    loose.run(card="visa")
    by_callable.start(card="visa")
    await loose.astart(card="visa")
