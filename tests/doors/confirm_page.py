"""The confirm page of a verb, filled in and sent as a browser would: with the hidden fields that it came with."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from django.test import Client

from saga_app.models import Execution

ROOT = "/admin/saga_app/execution/"
HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)"')

USES: dict[str, tuple[str, dict[str, str], str]] = {
    "resume": ("stuck going back", {}, "compensating"),
    "skip": ("stuck past the pivot", {"happened": "yes", "output": '{"answer": "1"}'}, "running"),
    "resolve": ("stuck going back", {}, "compensating"),
    "unwind": ("stuck held", {}, "compensating"),
    "cancel": ("waiting", {}, "waiting"),
    "suspend": ("waiting", {}, "waiting"),
    "abandon": ("stuck going back", {}, "failed"),
    "rerun": ("failed", {}, "pending"),
}
"""Verb → the state it is used in, what is filled in beside the reason, and the status right after."""


def run_url(execution: Execution) -> str:
    return f"{ROOT}{execution.pk}/change/"


def verb_url(execution: Execution, verb: str) -> str:
    return f"{ROOT}{execution.pk}/verb/{verb}/"


def hidden_fields(page: Any) -> dict[str, str]:
    """The hidden fields of the form of ours; a form of the admin's own has none but its token."""
    return {name: unescape(value) for name, value in HIDDEN.findall(page.content.decode())}


def open_form(client: Client, execution: Execution, verb: str) -> dict[str, str]:
    """What the confirm page would send as it is."""
    page = client.get(verb_url(execution, verb))
    assert page.status_code == 200
    return hidden_fields(page)


def use(client: Client, execution: Execution, verb: str, **filled: str) -> Any:
    """Open the confirm page, fill it in, send it."""
    return client.post(verb_url(execution, verb), {**open_form(client, execution, verb), **filled})
