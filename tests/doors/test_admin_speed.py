"""The console over two hundred thousand executions: no page asks much, and none has a large table read whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.urls import reverse

from saga_app.models import Execution
from tests import crowd
from tests.console import pages
from tests.plans import queries_of, read_whole, scanned

MOST = 10  # queries of a page

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="the plans are PostgreSQL's"),
]


@pytest.fixture(scope="module", autouse=True)
def busy_site(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    with django_db_blocker.unblock():
        crowd.Crowd(count=200_000, open=10_000, stuck=1_000).fill()
        crowd.vacuumed()
        yield
        crowd.empty()


@pytest.fixture
def viewer(client: Client) -> Client:
    """No superuser: their permissions are asked for, too."""
    user = User.objects.create_user("viewer", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="saga_app"))
    client.force_login(user)
    return client


def test_no_list_and_no_overview_asks_much(viewer: Client) -> None:
    asked = {title: len(queries_of(lambda url=url: viewer.get(url))) for title, url in pages(viewer)}
    assert len(asked) > 80
    assert {title: count for title, count in asked.items() if count > MOST} == {}


def test_no_page_has_a_large_table_read_whole(viewer: Client) -> None:
    whole = {title: read_whole(lambda url=url: viewer.get(url)) for title, url in pages(viewer)}
    assert {title: asked for title, asked in whole.items() if asked} == {}


@pytest.mark.parametrize("status", ["stuck", "waiting", "compensating", "failed", "completed"])
def test_nor_has_the_run_page(viewer: Client, status: str) -> None:
    execution = Execution.objects.filter(status=status).order_by("-created_at")[0]
    address = reverse("admin:saga_app_execution_change", args=[execution.pk])
    assert viewer.get(address).status_code == 200
    assert read_whole(lambda: viewer.get(address)) == []


def test_what_is_read_whole_is_seen() -> None:
    """That the tests above can fail."""
    assert scanned(str(Execution.objects.filter(input_text="x").query).replace("= x", "= 'x'")) == {
        Execution._meta.db_table
    }
    assert read_whole(lambda: list(Execution.objects.filter(cancel_reason="x"))) != []
