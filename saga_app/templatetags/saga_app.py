"""Small things that the operators' pages print: moments, crumbs, links to other slices, the nonce of a strict CSP."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import django
from django import template
from django.template.context import Context
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from saga_app import clock, messages

register = template.Library()


@register.filter
def saga_moment(at: datetime | None) -> SafeString | str:
    """A moment to the second in the reader's time zone; in UTC for whoever points at it."""
    if at is None:
        return "–"
    here = timezone.localtime(at, timezone.get_current_timezone())
    return _time(at, f"{here:%Y-%m-%d %H:%M:%S}")


@register.filter
def saga_ago(at: datetime | None) -> SafeString | str:
    """How long ago a moment was, or how long it is until then."""
    if at is None:
        return "–"
    return _time(at, messages.span(abs((clock.now() - at).total_seconds())))


@register.filter
def saga_status(status: str) -> str:
    """The word for what an execution is doing."""
    return messages.status_word(status)


@register.filter
def saga_reason(stuck_reason: str) -> str:
    """The words for why it waits for an operator."""
    return messages.reason_word(stuck_reason)


def _time(at: datetime, text: str) -> SafeString:
    return format_html('<time datetime="{0}" title="{0}">{1}</time>', f"{at:%Y-%m-%dT%H:%M:%SZ}", text)


@register.simple_tag
def saga_breadcrumbs(crumbs: Iterable[tuple[str, object]]) -> SafeString:
    """The way from the admin's front page to here; an address that is empty is here itself.

    Django 6.1 made of its breadcrumbs an ordered list, and styles only that.
    """
    if django.VERSION >= (6, 1):
        return format_html(
            '<ol class="breadcrumbs">{}</ol>', format_html_join("\n", "{}", ((_li(*c),) for c in crumbs))
        )
    links = [
        [format_html('<a href="{}"><bdi>{}</bdi></a>', url, text) if url else format_html("<bdi>{}</bdi>", text)]
        for url, text in crumbs
    ]
    return format_html('<div class="breadcrumbs">{}</div>', format_html_join(" \u203a ", "{}", links))


def _li(url: str, text: object) -> SafeString:
    if url:
        return format_html('<li><a href="{}"><bdi>{}</bdi></a></li>', url, text)
    return format_html('<li aria-current="page"><bdi>{}</bdi></li>', text)


@register.simple_tag(takes_context=True)
def saga_nonce(context: Context) -> SafeString | str:
    """The nonce attribute under a strict CSP: Django's from 6.0 on, django-csp's before; else nothing."""
    nonce = context.get("csp_nonce") or getattr(context.get("request"), "csp_nonce", None)
    return format_html(' nonce="{}"', nonce) if nonce else ""


@register.simple_tag(takes_context=True)
def saga_query(context: Context, name: str, value: object) -> str:
    """The address of this page with one parameter changed."""
    query = context["request"].GET.copy()
    query[name] = str(value)
    return f"?{query.urlencode()}"
