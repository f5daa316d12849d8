"""What type checkers must refuse: each line marked `refused` has an error in both, and no other line has one."""

from __future__ import annotations

from dataclasses import dataclass

from saga_app import Backoff, Context, Pivot, Saga, ref, step


@dataclass
class PlaceOrder:
    order_id: int


@dataclass
class Other:
    order_id: int


@step(provides="charge_id")
def charge(card: str, ctx: Context) -> str:
    return card


@step
async def fetch(url: str) -> str:
    return url


typed = Saga("typed", charge, input=PlaceOrder)
loose = Saga("loose", charge)


def start_all(ctx: Context) -> None:
    typed.start(PlaceOrder("1"))  # refused
    typed.start(Other(1))  # refused
    typed.start(1)  # refused
    typed.start()  # refused
    typed.start(order_id=1)  # refused
    typed.start(PlaceOrder(1), order_id=1)  # refused
    typed.start(PlaceOrder(1), key=1)  # refused
    typed.using(priority="high")  # refused
    typed.using(priority=1).start(Other(1))  # refused
    typed.run(Other(1))  # refused
    loose.start(PlaceOrder(1))  # refused
    loose.start(card="visa", key=1)  # refused
    charge(1, ctx)  # refused
    charge("visa")  # refused
    charge("visa", ctx, 1)  # refused
    charge("visa", context=ctx)  # refused
    charge.bind(card="visa")(1, ctx)  # refused
    charge("visa", ctx) + 1  # refused
    fetch("x") + "y"  # refused
    charge.name = "other"  # refused


step(attempts="3")(lambda: 1)  # refused
step(timeout="30")(lambda: 1)  # refused
step(retries=3)(lambda: 1)  # refused
step(retry_on=("OSError",))(lambda: 1)  # refused
step(rejected_on=(int,))(lambda: 1)  # refused
step(backoff=3)(lambda: 1)  # refused
Backoff(first="1")  # refused
charge.compensate(atempts=3)  # refused
charge.compensate(rejected_on=ValueError)  # refused
charge.named(3)  # refused
ref(3)  # refused
Saga("s", charge, output="charge_id")  # refused
Saga("s", charge, on_failure="undo")  # refused
Saga("s", charge, revision="2")  # refused
Saga("s", Pivot)  # refused
Saga("s", [charge])  # refused
Saga("s", start_all)  # refused
