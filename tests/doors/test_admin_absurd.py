"""What nobody means, filled in: numbers and moments that no column keeps are said at their field, and no error page."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from saga_app import Saga, batches, testing
from saga_app.core import registry
from saga_app.models import Execution
from tests.doors import every_state
from tests.doors.batch_page import do, do_url
from tests.doors.confirm_page import verb_url
from tests.doors.test_admin_starting import page_of

pytestmark = pytest.mark.django_db
HUGE = "9" * 30


@pytest.fixture(autouse=True)
def own_sagas():
    testing.clock.release()
    with registry.isolate():
        yield


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    return client


@pytest.mark.parametrize("canary", ["100001", "3000000000", HUGE])
def test_a_canary_larger_than_any_batch(root: Client, canary: str) -> None:
    every_state.make("stuck held")
    batch = batches.freeze("resume", Execution.objects.all(), actor=User.objects.get())
    page = do(root, batch, "begin", canary=canary)
    assert page.status_code == 200
    assert "less than or equal to 100000" in page.content.decode()


@pytest.mark.parametrize("version", ["-1", HUGE, "x", ""])
@pytest.mark.parametrize("act", ["begin", "discard"])
def test_the_version_of_a_batch(root: Client, act: str, version: str) -> None:
    every_state.make("stuck held")
    batch = batches.freeze("resume", Execution.objects.all(), actor=User.objects.get())
    assert root.post(do_url(batch, act), {"version": version}).status_code in (200, 302)
    batch.refresh_from_db()
    assert batch.status == "draft"


@pytest.mark.parametrize("version", ["-1", HUGE, "x", ""])
def test_the_version_of_an_execution(root: Client, version: str) -> None:
    execution = every_state.make("stuck held")
    assert root.post(verb_url(execution, "resume"), {"version": version}).status_code in (200, 409)
    assert Execution.objects.get().status == "stuck"


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Pacific/Kiritimati"])
@pytest.mark.parametrize("due", ["9999-12-31T23:59:59", "0001-01-01T00:00:00"])
def test_a_start_at_the_end_of_time(root: Client, settings: Any, zone: str, due: str) -> None:
    settings.TIME_ZONE = zone
    Saga("order", every_state.act("a", undo=False))
    answer = root.post(page_of("order", "start/"), {"value-note": "n", "key": "k", "due": due})
    assert answer.status_code in (200, 302, 409)
    assert root.get("/admin/saga_app/execution/").status_code == 200
    for execution in Execution.objects.all():
        assert root.get(f"/admin/saga_app/execution/{execution.pk}/change/").status_code == 200


@pytest.mark.parametrize("first", ["9999-12-31T23:59:59", "0001-01-01T00:00:00"])
@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Pacific/Kiritimati"])
def test_a_schedule_at_the_end_of_time(root: Client, settings: Any, zone: str, first: str) -> None:
    settings.TIME_ZONE = zone
    Saga("order", every_state.act("a", undo=False))
    given = {"value-note": "n", "mark": "0" * 12, "kind": "D", "first": first}
    assert root.post(page_of("order", "schedule/"), given).status_code in (200, 302)
    assert root.get(page_of("order")).status_code == 200
