"""An order of many parcels: each is packed and labelled beside the others, while the order is charged and invoiced."""

from __future__ import annotations

from dataclasses import dataclass

from project.shop import warehouse
from project.shop.models import OrderLine
from project.shop.sagas.labels import print_label
from project.shop.sagas.orders import charge, create_invoice, reserve, thank
from saga_app import Context, ForEach, Parallel, Pivot, Saga, ref, step

HOLDS = 12  # pieces in one box


@dataclass(frozen=True)
class Box:
    """What goes into one box."""

    number: int
    pieces: int


def packing_list(order_id: int) -> list[Box]:
    """Say what goes into which box: full ones, and one with the rest."""
    left = sum(OrderLine.objects.filter(order_id=order_id).values_list("quantity", flat=True))
    return [Box(number, min(HOLDS, left - begun)) for number, begun in enumerate(range(0, left, HOLDS), start=1)]


@step(provides="box_code", give_up_on=(warehouse.BoxBroke,), title="Pack a box")
def pack(order_id: int, box: Box, ctx: Context) -> str:
    """Pack one box, unless it is dropped."""
    return warehouse.pack(order_id, box.number, idempotency_key=ctx.idempotency_key)


@pack.compensate(attempts=10)
def unpack(ctx: Context) -> None:
    """Put its goods back."""
    warehouse.unpack(original_key=ctx.forward_idempotency_key)


@step(provides="parcels", attempts=4, idempotent=True, title="Hand over the parcels")
def hand_over(order_id: int, labels: list[str]) -> int:
    """Send every parcel: one for each label, so the labels are key enough."""
    return warehouse.ship_all(order_id, labels)


wholesale_order = Saga(
    "wholesale-order",
    reserve,
    Parallel(
        packing=[
            ForEach("box", packing_list, pack, print_label.bind(number=ref("box.number")), concurrency=6).named(
                provides="labels"
            ),
        ],
        billing=[charge, create_invoice],
    ),
    Pivot(),
    hand_over,
    thank,
    output=ref("parcels"),
    title="Place an order of many parcels",
)
