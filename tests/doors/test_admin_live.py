"""What the console's script is answered when it asks a page again: what moved, 304, or that it may not."""

from __future__ import annotations

import gzip

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from saga_app import testing
from saga_app.core import registry
from tests.doors import every_state
from tests.doors.confirm_page import run_url, use

LISTS = ["/admin/saga_app/execution/", "/admin/saga_app/stuckexecution/"]
ASKS = {"x-saga-poll": "1"}
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_sagas():
    with registry.isolate():
        yield
    testing.clock.release()


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    return client


def test_a_page_that_has_not_moved_is_not_sent_again(root: Client) -> None:
    execution = every_state.make("stuck going back")
    testing.clock.forward(0)  # how long ago something was is on the pages, too
    for page in (*LISTS, run_url(execution), f"{run_url(execution)[:-7]}verb/resume/"):
        first = root.get(page, headers=ASKS)
        assert (first.status_code, b"csrfmiddlewaretoken" in first.content) == (200, True)
        again = root.get(page, headers={**ASKS, "if-none-match": first["ETag"]})
        assert (page, again.status_code, again.content) == (page, 304, b"")
        weak = root.get(page, headers={**ASKS, "if-none-match": f"W/{first['ETag']}"})  # a proxy that packs makes it so
        assert weak.status_code == 304


def test_a_page_that_moved_is_sent(root: Client) -> None:
    execution = every_state.make("stuck going back")
    before = root.get(run_url(execution), headers=ASKS)
    every_state.down.clear()
    execution.resume()
    testing.drain()
    after = root.get(run_url(execution), headers={**ASKS, "if-none-match": before["ETag"]})
    assert after.status_code == 200
    assert after["ETag"] != before["ETag"]


def test_who_is_signed_out_is_told_so_and_gets_no_form(root: Client) -> None:
    """401 for who is signed out, 403 for who may not: never the login form, which a script would take for the page."""
    execution = every_state.make("stuck going back")
    staff, customer = User.objects.create_user("staff", is_staff=True), User.objects.create_user("customer")
    for page in (*LISTS, run_url(execution)):
        assert Client().get(page).status_code == 302
        out = Client().get(page, headers=ASKS)
        assert (out.status_code, out.content, "WWW-Authenticate" in out) == (401, b"", True)
        for user in (staff, customer):
            root.force_login(user)
            assert root.get(page, headers=ASKS).status_code == 403


def test_a_message_waits_for_a_person(root: Client) -> None:
    """A refresh neither shows nor eats what the next page has to say; nor does it leave anything to be said."""
    execution = every_state.make("stuck going back")
    done = use(root, execution, "resume", reason="r")
    assert done.status_code == 302
    polled = root.get(run_url(execution), headers=ASKS)
    assert b"accepted" not in polled.content
    assert b"accepted" in root.get(run_url(execution)).content
    gone = root.get(f"{LISTS[0]}nonsense/change/", headers=ASKS)
    assert gone.status_code == 302
    assert b"There is no execution" not in root.get(LISTS[0]).content


def test_nobody_else_sees_a_difference(root: Client) -> None:
    """No ETag, no 304, and a verb is no poll whatever it says of itself."""
    execution = every_state.make("stuck going back")
    for page in (*LISTS, run_url(execution)):
        answer = root.get(page, headers={"if-none-match": "*"})
        assert (answer.status_code, "ETag" in answer) == (200, False)
    verb = f"{run_url(execution)[:-7]}verb/abandon/"
    answer = root.post(verb, {"version": execution.version, "reason": "r"}, headers=ASKS)
    assert (answer.status_code, answer["Location"]) == (302, run_url(execution))


def test_the_host_may_pack_and_tag_pages_itself(root: Client, settings) -> None:
    settings.MIDDLEWARE = [
        "django.middleware.gzip.GZipMiddleware",
        "django.middleware.http.ConditionalGetMiddleware",
        *settings.MIDDLEWARE,
    ]
    page = run_url(every_state.make("stuck going back"))
    testing.clock.forward(0)
    first = root.get(page, headers={**ASKS, "accept-encoding": "gzip"})
    assert b"saga-run" in gzip.decompress(first.content)
    again = root.get(page, headers={**ASKS, "accept-encoding": "gzip", "if-none-match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_the_run_page_says_when_it_is_final(root: Client) -> None:
    may = Permission.objects.get(codename="view_execution")
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.add(may)
    root.force_login(viewer)
    for state, says in (("waiting", '""'), ("stuck held", '""'), ("completed", '"final"'), ("abandoned", '"final"')):
        page = root.get(run_url(every_state.make(state))).content.decode()
        assert f'id="saga-run" data-saga-live={says}' in page, state
