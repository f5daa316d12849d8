"""Where a page of the console is; nowhere, where a project's own admin site leaves it out."""

from __future__ import annotations

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse


def address(request: HttpRequest, name: str, *args: object) -> str:
    """The address of a page on the admin site that the request is of, or an empty one.

    Args:
        request: whose `current_app` names the site.
        name: of the page, without the app's, as in `execution_change`.
        args: of its address.
    """
    try:
        return reverse(f"admin:saga_app_{name}", args=args, current_app=getattr(request, "current_app", None))
    except NoReverseMatch:
        return ""
