"""The test site works: three databases, each with the tables that belong there, and children that see them."""

from __future__ import annotations

import pytest
from django.db import connections

from tests.processes import Processes
from tests.site.models import Tag

LOOK = "import django; django.setup(); from tests.site.models import Tag; print(Tag.objects.get().name)"


@pytest.mark.django_db(transaction=True)
def test_a_child_process_sees_what_was_committed(children: Processes) -> None:
    Tag.objects.create(name="seen")
    child = children.start("-c", LOOK)
    assert child.wait(60) == 0, children.output(child)
    assert children.output(child) == "seen\n"


@pytest.mark.django_db(databases=["default", "outside", "other"])
@pytest.mark.parametrize(
    ("alias", "sagas", "site"), [("default", True, True), ("other", False, True), ("outside", False, False)]
)
def test_tables_are_where_the_router_says(alias: str, sagas: bool, site: bool) -> None:
    tables = connections[alias].introspection.table_names()
    assert ("saga_app_execution" in tables, "site_tag" in tables) == (sagas, site)


@pytest.mark.redis
def test_redis_answers(redis_url: str) -> None:
    client = pytest.importorskip("redis").Redis.from_url(redis_url)
    assert client.ping()
    client.close()
