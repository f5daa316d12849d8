"""What customers, staff and suppliers do during a soak: cancel, send back, approve, deliver, subscribe, resume."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import timedelta
from uuid import UUID

from django.contrib.auth.models import Permission, User
from django.db.models import QuerySet
from django.utils import timezone

from project.shop import faults, orders, outside, returns, subscriptions
from project.shop.models import Order, Period, Product, Return, Subscription
from project.soak import plan
from saga_app import VerbRefused, engine
from saga_app.models import Execution

SUBSCRIBERS = 6
MOMENT = timedelta(seconds=1)
SOON, LATE = 2 * MOMENT, 15 * MOMENT  # after which somebody looks at what is stuck, and at what its child left stuck


class People:
    """Everybody but the workers. Each is asked again and again, and does what is theirs to do by now."""

    def __init__(self, placed: Iterable[Order], happened: Counter[str]) -> None:
        self.orders = {order.pk: order for order in placed}
        self.happened = happened
        self.to_cancel = {order.saga_key for order in self.orders.values() if plan.is_cancelled(order.number)}
        self.to_return = {order.saga_key for order in self.orders.values() if plan.is_returned(order.number)}
        self.clerk, self.manager = _staff("clerk"), _staff("manager")
        self.decided: set[int] = set()
        self.back: set[int] = set()
        self.declined: set[int] = set()
        self.delivered: set[UUID] = set()

    def act(self) -> None:
        """Do what is to be done now."""
        self._cancel()
        self._take_in()
        self._decide()
        self._send_back()
        self._deliver()
        self._decline()
        self._resume()

    def are_done(self) -> bool:
        """Whether nobody will begin anything new."""
        return not self._completed(self.to_return).exists()

    # customers

    def subscribe(self) -> None:
        """Some subscribe: one in three has a card that will be declined once, another one for good."""
        tea = Product.objects.order_by("pk")[0]
        for number in range(SUBSCRIBERS):
            one = Subscription(customer=f"subscriber {number}", product=tea, price=tea.price, periods=5)
            one.every = one.grace = MOMENT
            subscriptions.subscribe(one)
            self.happened["subscribed"] += 1
        self.to_cancel.add(one.saga_key)  # the last of them

    def _decline(self) -> None:
        """Once the first period is paid."""
        for one in Subscription.objects.exclude(pk__in=self.declined):
            times = {0: 0, 1: 1, 2: outside.ALWAYS}[one.pk % 3]
            if times and Period.objects.filter(subscription=one).exists():
                self.declined.add(one.pk)
                outside.tell(one.card, "decline", times=times)

    def _cancel(self) -> None:
        for execution in _begun(self.to_cancel):
            self.to_cancel.discard(execution.key or "")
            self._try("cancelled on the way", engine.cancel, execution, reason="changed their mind")

    def _take_in(self) -> None:
        """What has arrived is sent back."""
        for execution in self._completed(self.to_return):
            self.to_return.discard(execution.key or "")
            order = self.orders[execution.input["order_id"]]
            wish = plan.wish_of(order.number)
            made = returns.take_in(order, wish=wish, reason="not what they thought", actor=self.clerk)
            self.to_cancel |= {made.key or ""} if plan.is_cancelled(order.number) else set()
            self.happened["sent back"] += 1

    def _completed(self, keys: set[str]) -> QuerySet[Execution]:
        return Execution.objects.filter(key__in=keys, status="completed")

    # staff

    def _decide(self) -> None:
        """Somebody else than the clerk approves or rejects each return, or leaves it to its time."""
        for returned in Return.objects.exclude(pk__in=self.decided):
            verb, execution = plan.verdict_on(returned.order.number), _open(returned)
            if verb and execution and execution.steps.filter(name="refund_ok", status="waiting").exists():
                self.decided.add(returned.pk)
                decide = getattr(engine, verb)
                self._try(f"{verb} a return", decide, execution, "refund_ok", actor=self.manager, key="verdict")

    def _send_back(self) -> None:
        """The parcel of a return comes back, whether its gate is open or not."""
        for returned in Return.objects.exclude(pk__in=self.back):
            number, execution = returned.order.number, _open(returned)
            condition = plan.comes_back(number)
            if condition and execution and (plan.is_early(number) or returned.pk in self.decided):
                self.back.add(returned.pk)
                self._try("parcel came back", returns.has_come_back, execution, condition)

    def _resume(self) -> None:
        """Make the bank and the suppliers do what they would not, and resume what is stuck."""
        now = timezone.now()
        for execution in Execution.objects.stuck().filter(updated_at__lt=now - SOON):
            if execution.stuck_reason == "child_stuck" and execution.updated_at > now - LATE:
                continue  # it goes on when its child does
            if "order_id" in execution.input:
                faults.mend(self.orders[execution.input["order_id"]])
            self._try(f"resumed: {execution.stuck_reason}", engine.resume, execution, reason="it works again")

    # suppliers

    def _deliver(self) -> None:
        """Each delivery is told twice, as programs do that had no answer."""
        for purchase in orders.awaited().exclude(pk__in=self.delivered):
            if plan.is_delivered(self.orders[purchase.input["order_id"]].number):
                self.delivered.add(purchase.pk)
                for _ in range(2):
                    self._try("told of a delivery", orders.deliver, purchase)

    def _try(self, what: str, act: Callable[..., object], *args: object, **options: object) -> None:
        """Do it; where it comes too late, that is told too."""
        try:
            act(*args, **options)
            self.happened[what] += 1
        except VerbRefused as refused:
            self.happened[f"{what}: {refused.code}"] += 1


def _begun(keys: set[str]) -> list[Execution]:
    """Those of them that are being worked on; whether it is too late to cancel is the verb's to say."""
    return list(Execution.objects.filter(key__in=keys, status__in=["running", "waiting", "compensating"]))


def _open(returned: Return) -> Execution | None:
    return Execution.objects.open().filter(key=returned.saga_key).first()


def _staff(name: str) -> User:
    person, _ = User.objects.get_or_create(username=name, defaults={"is_staff": True})
    person.user_permissions.set(Permission.objects.filter(codename="approve_return"))
    return person
