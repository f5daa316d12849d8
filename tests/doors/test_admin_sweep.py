"""Every address of the console, found by discovery, tried by everybody and by every method."""

from __future__ import annotations

from typing import Any

import pytest
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client, RequestFactory

from saga_app.admin.pages import ViewOnly
from saga_app.core import registry
from tests.doors import world as worlds
from tests.doors.addresses import FOR_VERBS, NOBODY, Address, addresses, ours
from tests.doors.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(600)]  # they open some hundred pages each
OTHERS = ("put", "patch", "delete")


@pytest.fixture(autouse=True)
def own_sagas():
    with registry.isolate():
        yield


@pytest.fixture
def world() -> World:
    return worlds.make()


def somebody(*permissions: str) -> Client:
    """Somebody on the staff with these permissions of ours."""
    user = User.objects.create_user(f"somebody {User.objects.count()}", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="saga_app", codename__in=permissions))
    return signed_in(user)


def signed_in(user: User) -> Client:
    made = Client()
    made.force_login(user)
    return made


def everything() -> dict[str, list[Any]]:
    """Every row that the console, the queue and Django's log have."""
    models = [*apps.get_app_config("saga_app").get_models(), *apps.get_app_config("django_q").get_models(), LogEntry]
    return {
        model.__name__: list(model._base_manager.order_by("pk").values()) for model in models if not model._meta.proxy
    }


def is_login(answer: Any) -> bool:
    return answer.status_code == 302 and answer["Location"].startswith("/admin/login/")


def followed(client: Client, page: Address) -> int:
    """The status at the end of redirects inside the console."""
    answer = client.get(page.url)
    while answer.status_code in (301, 302) and answer["Location"].startswith("/admin/saga_app/"):
        answer = client.get(answer["Location"])
    return answer.status_code


def test_nothing_is_shown_to_who_is_signed_out(world: World) -> None:
    client = Client()
    for page in addresses(world):
        posted = client.post(page.url)
        assert is_login(client.get(page.url)), page
        assert is_login(posted) or posted.status_code == 405, page


def test_staff_without_a_permission_sees_nothing(world: World) -> None:
    """Every verb's permission but that to view is not enough either."""
    codes = Permission.objects.filter(content_type__app_label="saga_app").values_list("codename", flat=True)
    blind = [code for code in codes if not code.startswith("view_")]
    for client in (somebody(), somebody(*blind)):
        assert [page for page in addresses(world) if followed(client, page) != 403] == []
        posted = [(page, client.post(page.url).status_code) for page in addresses(world)]
        assert [(page, status) for page, status in posted if status not in (403, 404, 405)] == []
        assert b"/admin/saga_app/" not in client.get("/admin/").content


def needs_more(page: Address) -> bool:
    return page.kind in NOBODY or page.name in FOR_VERBS


def test_who_may_view_sees_all_and_does_nothing(world: World) -> None:
    """Each page for viewers is there; each verb, and each POST, is refused and changes nothing."""
    viewer = somebody("view_execution", "view_worker")
    before = everything()
    seen = [(page, followed(viewer, page)) for page in addresses(world)]
    assert [(page, status) for page, status in seen if status != (403 if needs_more(page) else 200)] == []
    posted = [(page, viewer.post(page.url).status_code) for page in addresses(world)]
    assert [(page, status) for page, status in posted if status not in (403, 404, 405) and not page.is_list] == []
    assert everything() == before


def test_looking_changes_nothing(world: World) -> None:
    """Not even for who may do everything."""
    root = signed_in(world.operator)
    before = everything()
    for page in addresses(world):
        assert followed(root, page) == (403 if page.kind in NOBODY else 200), page
    for page in {page.name: page for page in addresses(world)}.values():
        assert root.head(page.url).status_code in (200, 301, 302, 403), page
    assert everything() == before


def test_other_methods_are_refused(world: World) -> None:
    root = signed_in(world.operator)
    before = everything()
    said = [(page, verb, getattr(root, verb)(page.url).status_code) for page in addresses(world) for verb in OTHERS]
    assert [(page, verb, status) for page, verb, status in said if status != 405] == []
    assert everything() == before


def test_every_action_asks_for_a_permission(world: World) -> None:
    """Django runs an action without `permissions` for everybody who may view the list."""
    request = RequestFactory().get("/")
    request.user = world.operator
    for model, model_admin in ours().items():
        for name in model_admin.get_actions(request):
            function = model_admin.get_action(name)
            chosen = getattr(function[0] if isinstance(function, tuple) else function, "allowed_permissions", None)
            asks = chosen or getattr(getattr(function, "func", None), "allowed_permissions", None)
            assert asks, f"{model.__name__}: {name}"


def test_no_action_runs_for_who_may_only_view(world: World) -> None:
    request = RequestFactory().get("/")
    request.user = world.operator
    viewer = somebody("view_execution", "view_worker")
    before = everything()
    for model, model_admin in ours().items():
        rows = [str(pk) for pk in model._base_manager.values_list("pk", flat=True)]
        for name in [*model_admin.get_actions(request), "delete_selected"]:
            url = f"/admin/saga_app/{model._meta.model_name}/"
            viewer.post(url, {"action": name, "_selected_action": rows, "select_across": "1", "post": "yes"})
    assert everything() == before


def test_every_table_that_people_look_at_is_view_only() -> None:
    """What keeps pages up to date, and nobody from editing, is in one class."""
    assert [model for model, model_admin in ours().items() if not isinstance(model_admin, ViewOnly)] == []
