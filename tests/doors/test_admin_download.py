"""The JSON document of an execution: all that is kept of it, for those who may see it, redacted, however long."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client, override_settings

from saga_app import Child, ForEach, Saga, clock, step, testing
from saga_app.core import registry
from saga_app.models import Execution
from tests.doors import every_state
from tests.doors.http import user

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_sagas() -> Iterator[None]:
    with registry.isolate():
        yield


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    return client


def address(execution: Execution) -> str:
    return f"/admin/saga_app/execution/{execution.pk}/json/"


def read(by: Client, execution: Execution) -> Any:
    response = by.get(address(execution))
    assert response.status_code == 200
    return json.loads(response.getvalue())


@pytest.mark.parametrize("state", every_state.STATES)
def test_every_execution_can_be_downloaded(root: Client, state: str) -> None:
    execution = every_state.make(state)
    found = read(root, execution)
    assert found["execution"]["id"] == str(execution.pk)
    assert found["execution"]["status"] == execution.status
    assert [one["path"] for one in found["steps"]] == [one.path for one in execution.steps.order_by("seq")]
    assert [one["type"] for one in found["events"]] == [one.type for one in execution.events.order_by("id")]
    assert found["execution"]["input"]["note"].startswith("</script>")


def test_it_is_a_file_that_no_browser_takes_for_a_page(root: Client) -> None:
    response = root.get(address(every_state.make("failed")))
    assert response["Content-Type"] == "application/json"
    assert response["Content-Disposition"].startswith("attachment; filename=")
    assert response["X-Content-Type-Options"] == "nosniff"
    assert "no-store" in response["Cache-Control"]


def test_it_is_for_those_who_may_view_and_changes_nothing() -> None:
    execution = every_state.make("stuck held")
    for permissions, status in ((("view",), 200), (("resume",), 403), ((), 403)):
        by = user(*permissions)
        User.objects.filter(pk=by.pk).update(is_staff=True)
        browser = Client()
        browser.force_login(by)
        assert browser.get(address(execution)).status_code == status
    assert Client().get(address(execution)).status_code == 302


def test_only_get(root: Client) -> None:
    execution = every_state.make("failed")
    assert root.head(address(execution)).status_code == 200
    for method in ("post", "put", "delete", "patch"):
        assert getattr(root, method)(address(execution)).status_code == 405
    assert root.get(f"/admin/saga_app/execution/{clock.uuid7()}/json/").status_code == 404


def test_children_and_signals_are_in_it(root: Client) -> None:
    child = Saga("child", every_state.act("inner"))
    execution = testing.run(Saga("parent", Child(child)), note="n")
    execution.events.count()
    found = read(root, execution)
    assert found["children"] == [str(one.pk) for one in execution.children.all()]
    assert found["signals"] == []


@override_settings(SAGA={"REDACT": ["note"]})
def test_what_is_hidden_on_pages_is_hidden_here(root: Client) -> None:
    text = root.get(address(every_state.make("stuck going back"))).getvalue().decode()
    found = json.loads(text)
    assert found["execution"]["input"] == {"note": "[redacted]"}
    assert found["steps"][0]["arguments"] == {"note": "[redacted]"}


def test_three_thousand_steps_are_sent_in_slices(root: Client, django_assert_max_num_queries: Any) -> None:
    """A query for fifty rows, whatever the page before held in memory."""

    @step(name="pack", attempts=1)
    def pack(item: int) -> int:
        return item

    def items() -> list[int]:
        return list(range(150))

    execution = testing.run(Saga("many", ForEach("item", items, pack)))
    with django_assert_max_num_queries(16):
        response = root.get(address(execution))
        assert response.streaming
        assert len(json.loads(response.getvalue())["steps"]) == 151
