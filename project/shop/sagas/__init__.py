"""The sagas of the shop, one file for each thing that customers do."""

from project.shop.sagas.orders import place_order
from project.shop.sagas.returns import customer_return
from project.shop.sagas.special import special_order, supplier_order
from project.shop.sagas.subscriptions import tea_subscription
from project.shop.sagas.wholesale import wholesale_order

__all__ = [
    "customer_return",
    "place_order",
    "special_order",
    "supplier_order",
    "tea_subscription",
    "wholesale_order",
]
