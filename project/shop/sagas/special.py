"""A special order: each of its lines is bought at a supplier, by an execution of its own, before it is carried out."""

from __future__ import annotations

from dataclasses import dataclass

from project.shop import stock, supplier
from project.shop.days import days
from project.shop.models import OrderLine
from project.shop.sagas.orders import charge, create_invoice, ship, thank
from saga_app import Child, Context, ForEach, Pivot, Saga, Wait, ref, step


@dataclass(frozen=True)
class Wanted:
    """What is bought for one line of an order."""

    order_id: int
    product_id: int
    sku: str
    pieces: int


@step(provides="purchase", rejected_on=(supplier.SoldOut,), title="Buy at the supplier")
def buy(order_id: int, sku: str, pieces: int, ctx: Context) -> str:
    """Buy it, once, however often this is called."""
    return supplier.buy(order_id, sku, pieces, idempotency_key=ctx.idempotency_key)


@buy.compensate(give_up_on=(supplier.CancelRefused,))
def cancel_purchase(order_id: int, ctx: Context) -> None:
    """Cancel it; a purchase under that key comes too late from now on."""
    supplier.cancel(original_key=ctx.forward_idempotency_key, order_id=order_id)


@step(atomic=True, title="Take the delivery in")
def take_in(order_id: int, product_id: int, delivered: int) -> None:
    """Keep what came for this order: on the shelf somebody else might buy it."""
    stock.take_in(order_id, product_id, delivered)


@take_in.compensate(atomic=True)
def send_back(order_id: int, product_id: int, delivered: int) -> None:
    """Give it back to the supplier."""
    stock.send_back(order_id, product_id, delivered)


supplier_order = Saga(
    "supplier-order",
    buy,
    Wait("delivered", timeout=days(30)),  # the supplier says how many pieces
    take_in,
    input=Wanted,
    output=ref("purchase"),
    title="Buy at a supplier",
)


def shopping_list(order_id: int) -> list[Wanted]:
    """Say what has to be bought: one purchase for each line."""
    lines = OrderLine.objects.filter(order_id=order_id).select_related("product")
    return [Wanted(order_id, line.product_id, line.product.sku, line.quantity) for line in lines]


special_order = Saga(
    "special-order",
    charge,
    ForEach(
        "item",
        shopping_list,
        Child(supplier_order).bind(product_id=ref("item.product_id"), sku=ref("item.sku"), pieces=ref("item.pieces")),
        concurrency=10,
    ).named(provides="purchases"),
    create_invoice,
    Pivot(),
    ship,
    thank,
    timeout=days(60),  # for all of it: nobody waits for a kettle for ever
    output=ref("purchases"),
    title="Place a special order",
)
