"""What type checkers must refuse: each line marked `refused` has an error in both, and no other line has one."""

from __future__ import annotations

from dataclasses import dataclass

from saga_app import (
    Approval,
    Backoff,
    Branch,
    Child,
    Compute,
    Context,
    ForEach,
    If,
    Parallel,
    Pivot,
    Repeat,
    Saga,
    Sleep,
    Try,
    Wait,
    While,
    ref,
    step,
)


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

total = Compute("total", start_all)
total(1)  # refused
Compute(start_all)  # refused
Compute("total", start_all, compensate=start_all)  # refused
If("a", charge)  # refused
If(start_all, start_all)  # refused
If(start_all, [charge])  # refused
If(start_all, charge, default=[charge])  # refused
If(start_all, charge, otherwise=start_all)  # refused
Branch("card", card=charge)  # refused
Branch(start_all, card=start_all)  # refused
Branch(start_all, card=["charge"])  # refused
While(charge, charge, until=start_all)  # refused
Repeat(charge)  # refused
Repeat(charge, until=True)  # refused
ForEach("line", [1, 2], charge)  # refused
ForEach("line", "input.lines", charge)  # refused
ForEach("line", ref("input.lines"), charge, concurrency="2")  # refused
Parallel([charge, fetch])  # refused
Parallel(charge, hotel=start_all)  # refused
Try(charge, catch=("OSError",), recover=fetch)  # refused
Try(charge, catch=OSError, recover=Pivot)  # refused
Child(charge)  # refused
Child("kid").bind("x")  # refused
Wait(charge)  # refused
Wait("paid", timeout="1h")  # refused
Wait("paid", timeout=1, on_timeout="continue")  # refused
Approval("ok", permission=3)  # refused
Approval("ok", allow="staff")  # refused
Approval("ok", permission="a.b", on_reject="stop")  # refused
Approval("ok", permission="a.b", four_eyes="yes")  # refused
Sleep("60")  # refused
Sleep(until=60)  # refused
Wait("paid").name = "other"  # refused
Saga("s", typed)  # refused
Saga("s", charge, timeout="1h")  # refused
Saga("s", charge, queue=3)  # refused
typed.using(queue=3)  # refused
step(queue=3)(lambda: 1)  # refused
