"""One soak on one database: place every order, kill and restart all the while, and do what customers and staff do."""

from __future__ import annotations

import time
from collections import Counter

from django.db.models import Count, Sum

from project.shop import orders
from project.shop.models import Order
from project.soak import plan
from project.soak.clusters import Clusters
from project.soak.people import People
from project.soak.reaper import Reaper
from project.soak.screen import Bar
from saga_app.models import Execution

LOOK_EVERY = 0.25
MOST_OPEN = 40  # orders on their way at once: with more, each would wait for the others longer than a customer would
KILL_EVERY = 1.0
RAZE_AT = (0.3, 0.65)  # shares of the orders that are over when all clusters are killed
STALLED_AFTER = 120.0  # seconds without a single write: nothing more will come
TERMINAL = ("completed", "failed", "cancelled")


class Line:
    """The orders of one soak, the clusters that drive them, and what happened on the way."""

    def __init__(self, title: str, placed: list[Order]) -> None:
        self.orders = placed
        self.bar = Bar(title, len(placed))
        self.happened: Counter[str] = Counter()
        self.reaper = Reaper()
        self.people = People(placed, self.happened)
        self.clusters = Clusters()
        self.still_to_place = list(reversed(placed))
        self.razes = [int(share * len(placed)) for share in RAZE_AT]
        self.next_kill = time.monotonic() + KILL_EVERY
        self.last_sign = (-1, time.monotonic())

    def run(self) -> bool:
        """Carry everything to its end. False when nothing moves any more, or a cluster will not stay up."""
        try:
            self.people.subscribe()
            while not self._is_over(counts := _counts()):
                self._place()
                self.people.act()
                self._kill(_ended(counts))
                if not self._is_moving():
                    return False
                time.sleep(LOOK_EVERY)
            return True
        finally:
            self.bar.end()
            self.clusters.stop()

    def last_words(self) -> str:
        """The end of what the clusters said."""
        return self.clusters.last_words()

    def _is_over(self, counts: Counter[str]) -> bool:
        self.bar.total = counts.total() + len(self.still_to_place)  # what is ordered is sent back later on
        self.bar.draw(_ended(counts), counts, f"· {self.reaper.workers} workers killed")
        return not self.still_to_place and self.people.are_done() and not Execution.objects.open().exists()

    def _place(self) -> None:
        room = MOST_OPEN - Execution.objects.open().filter(saga__in=orders.NAMES).count()
        while self.still_to_place and room > 0:
            order = self.still_to_place.pop()
            orders.place(order)
            plan.arrange(order)
            self.happened["orders placed"] += 1
            room -= 1

    def _kill(self, ended: int) -> None:
        if self.razes and ended >= self.razes[0]:
            self.razes.pop(0)
            self.reaper.raze(self.clusters)
        elif time.monotonic() >= self.next_kill and self.reaper.strike(self.clusters):
            self.next_kill = time.monotonic() + KILL_EVERY

    def _is_moving(self) -> bool:
        done = Execution.objects.aggregate(writes=Sum("writes"), wakes=Sum("wakes"))
        sign = (done["writes"] or 0) + (done["wakes"] or 0)
        if sign != self.last_sign[0]:
            self.last_sign = (sign, time.monotonic())
        if self.clusters.have_ended():
            self.happened["a cluster ended by itself"] += 1
            return False
        return time.monotonic() - self.last_sign[1] < STALLED_AFTER


def _counts() -> Counter[str]:
    """How many are in which state: of orders, returns and subscriptions, not of the purchases inside them."""
    rows = Execution.objects.filter(parent=None).order_by().values_list("status").annotate(Count("pk"))
    return Counter(dict(rows))


def _ended(counts: Counter[str]) -> int:
    return sum(counts[status] for status in TERMINAL)
