"""What the lists of executions can be narrowed by, and that nothing else in an address reaches the tables."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.test import Client

from saga_app import Saga, clock, testing
from saga_app.core import registry
from saga_app.models import Execution, SagaVersion
from tests.console import filters
from tests.doors import every_state
from tests.doors.listed import EXECUTIONS, STUCK, listed, text_of
from tests.doors.test_admin_permissions import somebody

pytestmark = pytest.mark.django_db
LISTS = [EXECUTIONS, STUCK]
NONSENSE = ["nonsense", "-1", "", "0x", "\u202e", "9" * 400, "\x00", "%", "1e9", "2026-13-01T00:00:00Z"]


@pytest.fixture(autouse=True)
def own_sagas():
    with registry.isolate():
        yield


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    return client


def age(execution: Execution, **ago: timedelta) -> None:
    """Let those moments of the row be so long ago."""
    Execution.objects.filter(pk=execution.pk).update(**{name: clock.now() - length for name, length in ago.items()})


def test_by_status(root: Client) -> None:
    """Each by itself, and all that have not ended."""
    made = {state: every_state.make(state) for state in ("waiting", "stuck held", "completed", "cancelled")}
    for state, execution in made.items():
        assert listed(root, f"{EXECUTIONS}?status={execution.status}") == [execution.pk], state
    assert set(listed(root, EXECUTIONS + "?status=open")) == {made["waiting"].pk, made["stuck held"].pk}
    assert listed(root, EXECUTIONS + "?status=failed") == []


def test_by_saga(root: Client) -> None:
    every_state.make("pending")
    other = Saga("other", every_state.act("reserve")).start(note="n")
    assert listed(root, EXECUTIONS + "?saga=other") == [other.pk]
    assert listed(root, EXECUTIONS + "?saga=other&status=stuck") == []


def test_a_saga_whose_code_is_gone_can_be_chosen(root: Client, django_capture_on_commit_callbacks: Any) -> None:
    """Its executions are there, and likely the ones that are looked for."""
    with registry.isolate(), django_capture_on_commit_callbacks(execute=True):
        gone = Saga("gone", every_state.act("reserve")).start(note="n")
    assert SagaVersion.objects.filter(saga="gone").exists()
    assert dict(filters(root.get(EXECUTIONS).context["cl"]))["saga: gone"] == "?saga=gone"
    assert listed(root, EXECUTIONS + "?saga=gone") == [gone.pk]


def test_by_reason(root: Client) -> None:
    held, undoing = every_state.make("stuck held"), every_state.make("stuck going back")
    assert listed(root, STUCK + "?stuck_reason=step_failed") == [held.pk]
    assert listed(root, STUCK + "?stuck_reason=compensation_failed") == [undoing.pk]
    assert listed(root, STUCK + "?stuck_reason=worker_lost") == []


@pytest.mark.parametrize("address", LISTS)
def test_by_direction(root: Client, address: str) -> None:
    """What has ended goes nowhere, whichever way it went."""
    held, undoing = every_state.make("stuck held"), every_state.make("stuck going back")
    every_state.make("failed")
    assert listed(root, address + "?direction=forward") == [held.pk]
    assert listed(root, address + "?direction=back") == [undoing.pk]


@pytest.mark.parametrize("address", LISTS)
def test_by_whether_it_was_resumed_before(root: Client, address: str) -> None:
    again, first = every_state.make("stuck held"), every_state.make("stuck held")
    again.resume(reason="mended?")
    testing.drain()
    assert listed(root, address + "?resumed=yes") == [again.pk]
    assert listed(root, address + "?resumed=no") == [first.pk]


@pytest.mark.parametrize("address", LISTS)
def test_by_age_in_status(root: Client, address: str) -> None:
    """Of what has not ended, whenever it was created."""
    old, new, ended = (every_state.make(state) for state in ("stuck held", "stuck held", "completed"))
    age(old, status_at=timedelta(hours=5))
    age(new, status_at=timedelta(minutes=5), created_at=timedelta(days=5))
    age(ended, status_at=timedelta(days=5))
    assert listed(root, address + "?age=3600") == [old.pk]
    assert set(listed(root, address + "?age=60")) == {old.pk, new.pk}
    assert listed(root, address + "?age=86400") == []


def test_by_when_it_was_created(root: Client) -> None:
    made = [every_state.make("completed") for _ in range(3)]
    for execution, ago in zip(made, (0.5, 20, 100), strict=True):
        age(execution, created_at=timedelta(hours=ago))
    assert listed(root, EXECUTIONS + "?created=3600") == [made[0].pk]
    assert listed(root, EXECUTIONS + "?created=86400") == [made[0].pk, made[1].pk]
    assert listed(root, EXECUTIONS + "?created=604800") == [one.pk for one in made]


def test_by_queue_where_sagas_name_any(root: Client) -> None:
    every_state.make("completed")
    here = every_state.make("pending")
    assert "queue" not in {title.partition(":")[0] for title, _ in filters(root.get(EXECUTIONS).context["cl"])}
    there = Saga("labels", every_state.act("print"), queue="labels").start(note="n")
    assert listed(root, EXECUTIONS + "?queue=labels") == [there.pk]
    assert listed(root, EXECUTIONS + "?queue=-") == [here.pk]


def test_links_lead_to_a_cause_to_children_and_to_older_ones(root: Client) -> None:
    """The filter that a link sets is shown with its value, and can be taken off."""
    stuck, other = every_state.make("stuck held"), every_state.make("stuck going back")
    assert stuck.cause != other.cause
    assert listed(root, f"{STUCK}?cause={stuck.cause}") == [stuck.pk]
    Execution.objects.filter(pk=other.pk).update(parent=stuck, parent_path="below")
    page = root.get(f"{EXECUTIONS}?parent__id__exact={stuck.pk}")
    assert listed(root, f"{EXECUTIONS}?parent__id__exact={stuck.pk}") == [other.pk]
    assert f"By parent All {stuck.pk}" in text_of(page)
    age(stuck, created_at=timedelta(days=2))
    at = f"{clock.now() - timedelta(days=1):%Y-%m-%dT%H:%M:%S.%fZ}"
    assert listed(root, f"{EXECUTIONS}?before={at}") == [stuck.pk]
    assert listed(root, EXECUTIONS) == [other.pk, stuck.pk]


@pytest.mark.parametrize("address", LISTS)
@pytest.mark.parametrize("value", NONSENSE)
def test_a_value_that_is_no_choice_finds_nothing(root: Client, address: str, value: str) -> None:
    """No error page, whatever somebody writes into an address; an empty one is no filter."""
    every_state.make("stuck held")
    for one in root.get(address).context["cl"].model_admin.list_filter:
        found = listed(root, f"{address}?{one.parameter_name}={quote(value)}")
        assert found == [] if value else len(found) == 1, one


@pytest.mark.parametrize("address", LISTS)
@pytest.mark.parametrize(
    "query",
    ["input_text__contains=secret", "error_text__startswith=x", "id__in=1", "parent__input_text__regex=a", "key=a"],
)
def test_an_address_can_ask_for_nothing_else(root: Client, address: str, query: str) -> None:
    """Whoever may only look could find out letter by letter what pages hide; and it would read the whole table."""
    every_state.make("stuck held")
    answer = root.get(f"{address}?{query}", follow=True)
    assert (answer.status_code, [url for url, _ in answer.redirect_chain]) in [(400, []), (200, [f"{address}?e=1"])]


@pytest.mark.parametrize("address", LISTS)
def test_every_choice_is_there_for_whoever_may_look(address: str, client: Client) -> None:
    every_state.make("stuck held")
    viewer = somebody("view_execution")
    choices = list(filters(viewer.get(address).context["cl"]))
    assert len(choices) > 15
    for title, query in choices:
        assert viewer.get(address + query).status_code == 200, title
        assert somebody().get(address + query).status_code == 403
        assert client.get(address + query).status_code == 302


@pytest.mark.parametrize("address", LISTS)
def test_a_list_is_only_read(root: Client, address: str) -> None:
    every_state.make("stuck held")
    before: list[Any] = list(Execution.objects.values())
    root.post(address, {"action": "", "stuck_reason": "x"})
    root.post(f"{address}?status=stuck", {"_save": "1", "form-0-status": "completed"})
    assert list(Execution.objects.values()) == before
