"""One soak on one database: place every order, kill and restart all the while, and resume what is stuck at the end."""

from __future__ import annotations

import time
from collections import Counter

from django.conf import settings
from django.db.models import Count, Sum

from project.processes import Child
from project.shop import faults, orders
from project.shop.models import Order
from project.soak import plan
from project.soak.reaper import Reaper
from project.soak.screen import Bar
from saga_app import VerbRefused, engine
from saga_app.models import Execution

LOOK_EVERY = 0.25
PLACE_AT_ONCE = 20  # orders per look, so that new ones arrive while others are being worked on
KILL_EVERY = 2.0
RAZE_AT = (0.3, 0.65)  # shares of the orders that are over when the whole cluster is killed
STALLED_AFTER = 120.0  # seconds without a single write: nothing more will come
TERMINAL = ("completed", "failed", "cancelled")


class Line:
    """The orders of one soak, the cluster that drives them, and what happened on the way."""

    def __init__(self, title: str, orders: list[Order]) -> None:
        self.orders = orders
        self.bar = Bar(title, len(orders))
        self.happened: Counter[str] = Counter()
        self.reaper = Reaper()
        self.cluster = self._start_cluster()
        self.still_to_place = iter(orders)
        self.to_cancel = {order.saga_key for order in orders if plan.is_cancelled(order.number)}
        self.razes = [int(share * len(orders)) for share in RAZE_AT]
        self.next_kill = time.monotonic() + KILL_EVERY
        self.last_sign = (-1, time.monotonic())

    def run(self) -> bool:
        """Carry every order to its end. False when nothing moves any more, or the cluster will not stay up."""
        try:
            while not self._is_over(counts := _counts()):
                self._place()
                self._cancel()
                self._kill(_ended(counts))
                self._resume(counts)
                if not self._is_moving():
                    return False
                time.sleep(LOOK_EVERY)
            return True
        finally:
            self.bar.end()
            self.cluster.stop()

    def _is_over(self, counts: Counter[str]) -> bool:
        self.bar.draw(_ended(counts), counts, f"· {self.reaper.workers} workers killed")
        return _ended(counts) == len(self.orders)

    def _place(self) -> None:
        for _, order in zip(range(PLACE_AT_ONCE), self.still_to_place, strict=False):
            orders.place(order)
            plan.arrange(order)
            self.happened["orders placed"] += 1

    def _cancel(self) -> None:
        for execution in _begun(self.to_cancel):
            self.to_cancel.discard(execution.key or "")
            try:
                engine.cancel(execution, reason="the customer changed their mind")
                self.happened["cancelled on the way"] += 1
            except VerbRefused:
                self.happened["cancel came too late"] += 1

    def _kill(self, ended: int) -> None:
        if self.razes and ended >= self.razes[0]:
            self.razes.pop(0)
            self.reaper.raze(self.cluster)
            self.cluster = self._start_cluster()
        elif time.monotonic() >= self.next_kill and self.reaper.strike(self.cluster):
            self.next_kill = time.monotonic() + KILL_EVERY

    def _resume(self, counts: Counter[str]) -> None:
        """When only stuck ones are left: make the bank accept refunds, and resume them as an operator would."""
        if self.happened["orders placed"] < len(self.orders) or _ended(counts) + counts["stuck"] < len(self.orders):
            return
        for execution in Execution.objects.stuck():
            faults.mend(self._order_of(execution))
            engine.resume(execution, reason="the bank accepts refunds again")
            self.happened[f"resumed: {execution.stuck_reason}"] += 1

    def _order_of(self, execution: Execution) -> Order:
        return next(order for order in self.orders if order.saga_key == execution.key)

    def _is_moving(self) -> bool:
        writes = Execution.objects.aggregate(sum=Sum("writes"))["sum"] or 0
        if writes != self.last_sign[0]:
            self.last_sign = (writes, time.monotonic())
        if self.cluster.has_ended():
            self.happened["the cluster ended by itself"] += 1
            return False
        return time.monotonic() - self.last_sign[1] < STALLED_AFTER

    def _start_cluster(self) -> Child:
        return Child("qcluster", log=settings.DATA_DIR / "qcluster.log")


def _counts() -> Counter[str]:
    return Counter(dict(Execution.objects.order_by().values_list("status").annotate(Count("pk"))))


def _ended(counts: Counter[str]) -> int:
    return sum(counts[status] for status in TERMINAL)


def _begun(keys: set[str]) -> list[Execution]:
    """Those of them that are being worked on; whether it is too late to cancel is the verb's to say."""
    return list(Execution.objects.filter(key__in=keys, status__in=["running", "waiting", "compensating"]))
