"""The Django app of the demo shop."""

from __future__ import annotations

from django.apps import AppConfig


class ShopConfig(AppConfig):
    """Its label is `shop`; its sagas are found in `project.shop.sagas`."""

    name = "project.shop"
    label = "shop"
    verbose_name = "Kettle & Crate"
