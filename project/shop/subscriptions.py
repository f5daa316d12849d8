"""Takes subscriptions in, and hands them to their saga."""

from __future__ import annotations

from django.db import transaction

from project.shop.models import Subscription
from project.shop.sagas import tea_subscription
from project.shop.sagas.subscriptions import Terms
from saga_app.models import Execution


def subscribe(subscription: Subscription) -> Execution:
    """Write a subscription down and start its saga: both, or neither."""
    with transaction.atomic():
        subscription.save()
        return tea_subscription.start(
            Terms(
                subscription_id=subscription.pk,
                card=subscription.card,
                price=subscription.price,
                periods=subscription.periods,
                every=subscription.every,
                grace=subscription.grace,
            ),
            key=subscription.saga_key,
        )
