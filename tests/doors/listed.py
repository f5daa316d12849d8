"""Reads the lists of executions as a person does: which are there, in which order, and what each row says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from html import unescape
from typing import Any
from uuid import UUID

from django.test import Client

from saga_app import clock
from saga_app.models import Execution

EXECUTIONS = "/admin/saga_app/execution/"
STUCK = "/admin/saga_app/stuckexecution/"


def text_of(response: Any) -> str:
    """The main part of a page without tags and runs of blanks."""
    assert response.status_code == 200
    return _text(response.content.decode().partition('id="content-main"')[2])


def listed(client: Client, address: str) -> list[UUID]:
    """The executions of that page, in its order."""
    return [UUID(cells["pk"]) for cells in rows(client, address)]


def row(client: Client, address: str, execution: Execution) -> dict[str, str]:
    """What the list says of one, column by column."""
    (found,) = [cells for cells in rows(client, address) if cells["pk"] == str(execution.pk)]
    return found


def rows(client: Client, address: str) -> Iterator[dict[str, str]]:
    """What the list says of each."""
    response = client.get(address)
    assert response.status_code == 200, address
    body = response.content.decode().partition("<tbody>")[2].partition("</tbody>")[0]
    for html in re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL):
        cells = {
            name: _text(cell) for name, cell in re.findall(r'class="field-(\w+)[^>]*>(.*?)</t[dh]>', html, re.DOTALL)
        }
        (cells["pk"],) = re.findall(r'href="/admin/saga_app/execution/([-0-9a-f]{36})/change/', html)
        yield cells


def many(count: int) -> None:
    """Rows without steps, which need no run to be counted."""
    now = clock.now()
    Execution.objects.bulk_create(
        Execution(
            saga="order", revision=1, fingerprint="", status="completed", input_text="{}",
            created_at=now - timedelta(seconds=number), updated_at=now, status_at=now,
        )
        for number in range(count)
    )  # fmt: skip


def _text(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())
