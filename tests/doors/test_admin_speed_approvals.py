"""The list of approvals over a hundred thousand executions: few queries, and no large table is read whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from saga_app import Approval, Saga
from saga_app.admin import approvals
from saga_app.core import registry
from saga_app.models import StepRecord
from tests import crowd
from tests.plans import queries_of, read_whole

LIST = "/admin/saga_app/waitingapproval/"
MOST = 10  # queries of a page

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="the plans are PostgreSQL's"),
]


@pytest.fixture(scope="module", autouse=True)
def busy_site(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Each open execution that is not stuck waits for somebody, where its last step would be."""
    with django_db_blocker.unblock():
        crowd.Crowd(count=100_000, open=3_000, stuck=300).fill()
        rows = StepRecord.objects.filter(status="waiting", execution__status="waiting")
        rows.update(kind="approval", name="boss", path="boss", due_at=None)
        crowd.vacuumed()
        yield
        crowd.empty()


@pytest.fixture(autouse=True)
def sagas() -> Iterator[None]:
    with registry.isolate():
        for number in range(crowd.SAGAS):
            Saga(f"saga-{number}", Approval("boss", permission="shop.sell", four_eyes=number % 2 == 0))
        yield


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    return client


@pytest.mark.parametrize("query", ["", "?whose=all", "?saga=saga-3", "?p=10"])
def test_the_list(root: Client, query: str) -> None:
    assert len(queries_of(lambda: root.get(LIST + query))) <= MOST
    assert read_whole(lambda: root.get(LIST + query)) == []


def test_the_count(root: Client) -> None:
    user = User.objects.get(username="root")
    assert approvals.count_for(user) > 1_000
    assert len(queries_of(lambda: approvals.count_for(user))) == 1
    assert read_whole(lambda: approvals.count_for(user)) == []
