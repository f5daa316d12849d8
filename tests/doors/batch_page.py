"""The page of a batch as somebody uses it: selected in a list, opened, its buttons pressed."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from saga_app.models import Execution, OperatorBatch
from tests.doors.confirm_page import hidden_fields
from tests.selections import again, rows

ROOT = "/admin/saga_app/operatorbatch/"
LISTS = {"execution": "/admin/saga_app/execution/", "stuckexecution": "/admin/saga_app/stuckexecution/"}


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def page_of(batch: OperatorBatch) -> str:
    return f"{ROOT}{batch.pk}/change/"


def do_url(batch: OperatorBatch, act: str) -> str:
    return f"{ROOT}{batch.pk}/do/{act}/"


def text_of(response: Any) -> str:
    assert response.status_code == 200
    main = response.content.decode().partition('id="content-main"')[2]
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", main)).split())


def select(
    client: Client, verb: str, which: list[Execution] | None = None, where: str = "execution", q: str = ""
) -> Any:
    """What the action form of a list sends: these, or with the link under it all of them."""
    chosen = which or list(Execution.objects.all()[:1])
    fields = {
        "action": f"batch_{verb}", "_selected_action": [str(one.pk) for one in chosen],
        "select_across": "0" if which else "1", "index": "0",
    }  # fmt: skip
    return client.post(f"{LISTS[where]}{q}", fields)


def made() -> OperatorBatch:
    return OperatorBatch.objects.get()


def do(client: Client, batch: OperatorBatch, act: str, **filled: Any) -> Any:
    """Press the button as the page shows it."""
    page = client.get(page_of(batch))
    assert do_url(batch, act) in page.content.decode(), f"there is no button to {act}"
    return client.post(do_url(batch, act), {"version": hidden_fields(page)["version"], **filled})


def begun_by(client: Client, count: int, **options: Any) -> OperatorBatch:
    made_of = rows(count)
    select(client, "resume", made_of)
    batch = OperatorBatch.objects.get(status="draft")
    do(client, batch, "begin", reason="r", **options)
    return again(batch)
