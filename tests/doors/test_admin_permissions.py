"""Who may do what: every page and every verb tried by everybody who may not."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.test import Client, RequestFactory

from saga_app.core import registry
from saga_app.core.batching import BATCH_VERBS
from saga_app.core.verbs import VERBS
from saga_app.models import Event, Execution, StuckExecution
from tests.doors import every_state
from tests.doors.confirm_page import USES, run_url, verb_url

STUCK = "/admin/saga_app/stuckexecution/"
LISTS = ["/admin/saga_app/execution/", STUCK]
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_sagas():
    with registry.isolate():
        yield


def somebody(*permissions: str, staff: bool = True) -> Client:
    """Somebody who is signed in and has those permissions of ours."""
    user = User.objects.create_user(f"user {User.objects.count()}", is_staff=staff)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="saga_app", codename__in=permissions))
    client = Client()
    client.force_login(user)
    return client


def everything() -> tuple[list[dict[str, object]], int]:
    return list(Execution.objects.values()), Event.objects.count()


def pages(execution: Execution) -> list[str]:
    return [*LISTS, run_url(execution), f"{run_url(execution)[:-7]}history/"]


@pytest.mark.parametrize("verb", VERBS)
def test_nobody_without_the_permission_uses_a_verb(verb: str) -> None:
    """Not who is signed out or no staff, nor staff with nothing, with viewing alone, without it, or with all else."""
    execution = every_state.make(USES[verb][0])
    before = everything()
    others = [f"{other}_execution" for other in (*VERBS, "start") if other != verb]
    strangers = {
        "anonymous": (Client(), 302),
        "customer": (somebody("view_execution", f"{verb}_execution", staff=False), 302),
        "staff": (somebody(), 403),
        "viewer": (somebody("view_execution"), 403),
        "blind": (somebody(f"{verb}_execution"), 403),
        "other": (somebody("view_execution", *others), 403),
    }
    filled = {"version": execution.version, "reason": "r", "path": execution.failing_path, **USES[verb][1]}
    for who, (client, status) in strangers.items():
        shown = client.get(verb_url(execution, verb))
        done = client.post(verb_url(execution, verb), filled)
        assert (who, shown.status_code, done.status_code) == (who, status, status)
        assert status == 403 or shown.url.startswith("/admin/login/")
    assert everything() == before


@pytest.mark.parametrize("verb", VERBS)
def test_the_permission_of_a_verb_is_enough_for_it(verb: str) -> None:
    execution = every_state.make(USES[verb][0])
    client = somebody("view_execution", f"{verb}_execution")
    filled = {"version": execution.version, "reason": "r", "path": execution.failing_path, **USES[verb][1]}
    assert client.post(verb_url(execution, verb), filled).status_code == 302
    assert Event.objects.filter(execution=execution, type=verb).count() == 1


def test_pages_are_for_those_who_may_view() -> None:
    execution = every_state.make("stuck going back")
    for client, status in (
        (Client(), 302),
        (somebody("view_execution", staff=False), 302),
        (somebody(), 403),
        (somebody("resume_execution"), 403),
        (somebody("view_execution"), 200),
    ):
        assert [client.get(page).status_code for page in pages(execution)] == [status] * 4
    assert somebody().get(f"{STUCK}{execution.pk}/change/").status_code in (302, 403)


def test_a_viewer_sees_everything_and_no_button() -> None:
    execution = every_state.make("stuck going back")
    page = somebody("view_execution").get(run_url(execution)).content.decode()
    assert "Still undone" in page
    assert "saga-button" not in page
    assert "You do not have the permission “saga_app.resume_execution”." in page


def test_a_button_is_shown_for_each_permission() -> None:
    execution = every_state.make("stuck going back")
    page = somebody("view_execution", "resume_execution").get(run_url(execution)).content.decode()
    assert (verb_url(execution, "resume") in page, verb_url(execution, "abandon") in page) == (True, False)


@pytest.mark.parametrize("model", [Execution, StuckExecution])
def test_nobody_adds_changes_or_deletes(model: type[Execution]) -> None:
    """Not even a superuser with the addresses in hand."""
    execution = every_state.make("stuck held")
    client = Client()
    user = User.objects.create_superuser("root")
    client.force_login(user)
    base = f"/admin/saga_app/{model._meta.model_name}/"
    before = everything()
    assert client.post(f"{base}add/", {"saga": "x"}).status_code == 403
    assert client.post(f"{base}{execution.pk}/delete/", {"post": "yes"}).status_code == 403
    assert client.post(f"{base}{execution.pk}/change/", {"saga": "x"}).status_code in (302, 405)
    client.post(base, {"action": "delete_selected", "_selected_action": [execution.pk], "post": "yes"})
    assert everything() == before


@pytest.mark.parametrize("model", [Execution, StuckExecution])
def test_every_action_of_our_lists_asks_for_a_permission(model: type[Execution]) -> None:
    """Django runs an action without `permissions` for everybody who may view."""
    model_admin = admin.site.get_model_admin(model)
    request = RequestFactory().get("/")
    request.user = User.objects.create_superuser("root")
    assert [*model_admin.get_actions(request)] == [f"batch_{verb}" for verb in BATCH_VERBS]
    assert [name for name in model_admin.actions or () if not getattr(model_admin, name).allowed_permissions] == []


def test_no_form_is_taken_without_its_token() -> None:
    execution = every_state.make("stuck going back")
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.create_superuser("root"))
    answer = client.post(verb_url(execution, "abandon"), {"version": execution.version, "reason": "r"})
    assert answer.status_code == 403
    assert every_state.again(execution).status == "stuck"
