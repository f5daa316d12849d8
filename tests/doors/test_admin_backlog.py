"""The night on which everything waits: thirty thousand due, ten thousand stuck. The pages still come."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from saga_app import clock
from saga_app.models import Execution
from saga_app.store.pulse import MOST, pulse
from tests import crowd
from tests.plans import queries_of, read_whole

OVERVIEW = "/admin/saga_app/overview/"
CAUSE = "0123456789abcdef"

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="the plans are PostgreSQL's"),
]


@pytest.fixture(scope="module", autouse=True)
def bad_night(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Whatever may be driven has been due for an hour, and all that is stuck is stuck of one cause."""
    with django_db_blocker.unblock():
        crowd.Crowd(count=200_000, open=40_000, stuck=10_000).fill()
        due = clock.now() - timedelta(hours=1)
        Execution.objects.filter(due_at__isnull=False).update(due_at=due)
        Execution.objects.stuck().update(cause=CAUSE)
        crowd.vacuumed()
        yield
        crowd.empty()


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    return client


def test_the_strip_counts_to_its_cap() -> None:
    """By indexes alone, and it still knows how late the oldest is."""
    found = pulse("default")
    assert (found.count, found.stuck) == (MOST, 10_000)
    assert found.oldest is not None and clock.now() - found.oldest >= timedelta(hours=1)
    assert read_whole(lambda: pulse("default")) == []


@pytest.mark.parametrize(
    "page", [OVERVIEW, f"/admin/saga_app/stuckexecution/cause/{CAUSE}/", "/admin/saga_app/worker/"]
)
def test_no_page_reads_what_has_ended(root: Client, page: str) -> None:
    assert root.get(page).status_code == 200
    assert read_whole(lambda: root.get(page)) == []
    assert len(queries_of(lambda: root.get(page))) <= 12
