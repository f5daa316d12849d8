"""Answers the console's own script, which asks a page again and again: 304 while nothing moved, never a login form."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from hashlib import sha256
from typing import Any, cast

from django.contrib.admin import AdminSite
from django.contrib.messages.storage.base import BaseStorage, Message
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response

View = Callable[..., HttpResponseBase]

HEADER = "X-Saga-Poll"
CHANGES_EACH_TIME = re.compile(rb'(?:name="csrfmiddlewaretoken" value|nonce)="[^"]*"')


class Unheard(BaseStorage):
    """Messages of nobody. What is waiting for the operator stays where it is, and is shown by the next page."""

    def _get(self, *args: Any, **kwargs: Any) -> tuple[list[Message], bool]:
        return [], True

    def _store(self, messages: Any, response: Any, *args: Any, **kwargs: Any) -> list[Message]:
        return []


def polled(site: AdminSite, view: View) -> View:
    """A view of the admin that the script may ask. Whoever else asks sees no difference."""

    @wraps(view)
    def asked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if HEADER not in request.headers or request.method not in ("GET", "HEAD"):
            return view(request, *args, **kwargs)
        if not site.has_permission(request):  # the admin would send its login form, as a page that is well
            return _refused(signed_in=request.user.is_authenticated)
        request._messages = Unheard(request)  # type: ignore[attr-defined]  # noqa: SLF001 - as Django's middleware does
        response = view(request, *args, **kwargs)
        if not hasattr(response, "add_post_render_callback"):
            return response
        response.add_post_render_callback(lambda made: _unless_the_same(request, cast("HttpResponse", made)))
        return response

    return asked


def _refused(*, signed_in: bool) -> HttpResponse:
    if signed_in:
        return HttpResponse(status=403)
    return HttpResponse(status=401, headers={"WWW-Authenticate": "Session"})


def _unless_the_same(request: HttpRequest, response: HttpResponse) -> HttpResponseBase | None:
    """304 where the script has this page already. Tokens are new on each page, and nothing that has moved."""
    if response.status_code != 200:  # noqa: PLR2004 - HTTP's own number
        return None
    digest = sha256(CHANGES_EACH_TIME.sub(b"", response.content)).hexdigest()
    response.headers["ETag"] = tag = f'"{digest}"'
    return get_conditional_response(request, etag=tag, response=response)
