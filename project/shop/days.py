"""How long a day is: twenty-four hours in a real shop, much less where somebody waits to see one pass."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings


def days(count: float) -> timedelta:
    """So many days of this shop."""
    return timedelta(seconds=count * getattr(settings, "SHOP_DAY", 86400))
