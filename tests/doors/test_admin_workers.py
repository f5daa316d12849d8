"""The list of workers: who lives, what each drives now, whose cluster is wedged."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from saga_app import clock, step, testing
from saga_app.core import registry
from saga_app.models import Execution, StepRecord, Worker
from saga_app.store import workers
from tests.doors import every_state

PAGE = "/admin/saga_app/worker/"
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_sagas():
    testing.clock.forward(0)  # it stands still: no second passes between what is made and what is said
    with registry.isolate():
        yield
    testing.clock.release()


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    return client


def rows(client: Client) -> dict[str, str]:
    """What the list says of each process."""
    response = client.get(PAGE)
    assert response.status_code == 200
    table = response.content.decode().partition("<tbody>")[2].partition("</tbody>")[0]
    found = {}
    for row in table.split("</tr>"):
        text = " ".join(unescape(re.sub(r"<[^>]*>", " ", row)).split())
        if name := re.search(r"\S+:\d+", text):
            found[name[0]] = text
    return found


def test_who_lives_and_who_does_not(root: Client) -> None:
    """With host, process, cluster, queue, and when each was seen and claimed last."""
    workers.seen("here", [11, 12], "tests@1")
    workers.seen("there", [11], "labels@7")
    workers.claimed("here:11")
    Worker.objects.filter(pk="here:12").update(seen_at=clock.now() - timedelta(minutes=5))
    found = rows(root)
    assert found["here:11"].startswith("alive here:11 tests@1 default queue – 0 s ago 0 s ago")
    assert found["here:12"].startswith("gone here:12") and "– – 5 min ago" in found["here:12"]
    assert found["there:11"].startswith("alive there:11 labels@7 queue “labels” – – 0 s ago")


def test_a_wedged_cluster_is_told(root: Client) -> None:
    workers.seen("here", [11], "tests@1")
    workers.wedged("here", "tests@1", is_so=True)
    assert rows(root)["here:11"].startswith("wedged for 0 s here:11")


def test_what_each_drives_now(root: Client) -> None:
    """Looked at from inside a body: then its worker holds it. A worker whose number begins alike drives nothing."""
    seen: list[dict[str, str]] = []

    @step(name="look", attempts=1)
    def look(note: str) -> None:
        holder = Execution.objects.get().lease_holder
        assert holder is not None
        host, pid, _token = holder.rsplit(":", 2)
        workers.seen(host, [int(pid), int(f"{pid}1")], "tests@1")
        seen.append({name.rpartition(":")[2]: text for name, text in rows(root).items()} | {"me": pid})

    execution = testing.run(every_state.order(look), note="n", key="k-1 <b>")
    found, me = seen[0], seen[0]["me"]
    assert "order k-1 <b>" in found[me]
    assert "order" not in found[f"{me}1"]
    assert execution.status == "completed"
    assert "order" not in " ".join(rows(root).values())


def test_a_queued_step_is_driven_too(root: Client) -> None:
    workers.seen("here", [11], "tests@1")
    execution = every_state.make("waiting")
    row = StepRecord.objects.filter(execution=execution, path="charge")
    row.update(row_holder="here:11:abc", row_due_at=clock.now() + timedelta(seconds=20))
    assert "order" in rows(root)["here:11"] and "charge" in rows(root)["here:11"]


def test_a_lease_that_has_lapsed_is_nobodys(root: Client) -> None:
    workers.seen("here", [11], "tests@1")
    execution = every_state.make("pending")
    held = Execution.objects.filter(pk=execution.pk)
    held.update(lease_holder="here:11:abc", due_at=clock.now() + timedelta(seconds=20))
    assert str(execution.key) in rows(root)["here:11"]
    held.update(due_at=clock.now() - timedelta(seconds=1))
    assert str(execution.key) not in rows(root)["here:11"]


def test_as_many_queries_for_many_as_for_one(root: Client, django_assert_num_queries: Any) -> None:
    """Session and user; the strip; count and page; executions and queued steps."""
    workers.seen("here", [11], "tests@1")
    with django_assert_num_queries(7):
        root.get(PAGE)
    workers.seen("here", range(11, 40), "tests@1")
    every_state.make("waiting")
    with django_assert_num_queries(7):
        root.get(PAGE)


def test_it_is_for_those_who_may_view(client: Client) -> None:
    """Nobody adds, changes or deletes a worker; there is nothing else to see of one."""
    workers.seen("here", [11], "tests@1")
    user = User.objects.create_user("staff", is_staff=True)
    client.force_login(user)
    assert client.get(PAGE).status_code == 403
    user.user_permissions.add(Permission.objects.get(codename="view_execution"))
    assert "here:11" in rows(client)
    assert client.get(f"{PAGE}here:11/change/").url == PAGE
    before = list(Worker.objects.values())
    assert client.post(f"{PAGE}add/", {"id": "x"}).status_code == 403
    assert client.post(f"{PAGE}here:11/delete/", {"post": "yes"}).status_code == 403
    client.post(PAGE, {"action": "delete_selected", "_selected_action": ["here:11"], "post": "yes"})
    assert list(Worker.objects.values()) == before


def test_names_from_outside_stay_text(root: Client) -> None:
    workers.seen("<b>h</b>", [11], "<i>c</i>@1")
    html = root.get(PAGE).content.decode()
    assert "<b>h" not in html and "<i>c" not in html and "&lt;b&gt;h" in html
