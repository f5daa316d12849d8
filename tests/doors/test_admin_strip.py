"""The strip on every page of the console: who works, what is late, what is stuck; and it is loud when nobody works."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from saga_app import Saga, clock, testing
from saga_app.core import registry
from saga_app.models import Execution, StepRecord, Worker
from saga_app.store import pulse, workers
from tests.doors import every_state
from tests.doors.http import saga_queries

LISTS = ["/admin/saga_app/execution/", "/admin/saga_app/stuckexecution/"]
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


def strip(client: Client, address: str = LISTS[0]) -> str:
    """What the strip says on that page."""
    return words(html(client, address))


def html(client: Client, address: str = LISTS[0]) -> str:
    response = client.get(address)
    assert response.status_code == 200
    found = re.search(r'<div id="saga-strip".*?\n</div>', response.content.decode(), re.DOTALL)
    return found[0] if found else ""


def words(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def works(count: int = 2, cluster: str = "tests@1", host: str = "here") -> None:
    workers.seen(host, range(1, count + 1), cluster)


def alarm(client: Client) -> str:
    return html(client).partition('role="alert"')[2]


def overdue(execution: Execution, seconds: float, **changes: Any) -> None:
    changes["due_at"] = clock.now() - timedelta(seconds=seconds)
    Execution.objects.filter(pk=execution.pk).update(**changes)


def test_it_is_on_every_page(root: Client) -> None:
    """The lists, the run page, and the page of a verb."""
    execution = every_state.make("stuck held")
    base = f"/admin/saga_app/execution/{execution.pk}"
    for address in (*LISTS, f"{base}/change/", f"{base}/verb/resume/"):
        assert "1 stuck" in strip(root, address), address


def test_it_says_who_works(root: Client) -> None:
    works(2)
    assert "2 workers nothing is due 0 stuck" in strip(root)
    works(1, "tests@2", "there")
    assert "3 workers in 2 clusters" in strip(root)
    assert "alert" not in html(root)


def test_it_is_loud_when_nobody_works(root: Client) -> None:
    """With the command that helps, and other words when something waits for it."""
    assert "Nobody works: what is started waits. Start it: manage.py qcluster" in words(alarm(root))
    every_state.make("pending")
    said = strip(root)
    assert "no worker 1 due" in said
    assert "Nobody works, and something is due. Start it: manage.py qcluster" in said


def test_a_worker_that_was_not_seen_for_a_minute_does_not_work(root: Client) -> None:
    works()
    Worker.objects.update(seen_at=clock.now() - timedelta(seconds=61))
    assert "no worker" in strip(root)


def test_it_says_how_late_the_oldest_is(root: Client) -> None:
    """Whatever its queue and its priority, and late is marked as such."""
    works()
    overdue(every_state.make("pending"), 5)
    assert "1 due, the oldest for 5 s" in strip(root)
    assert "saga-strip-late" not in html(root)
    overdue(every_state.order(every_state.act("reserve")).start(note="n"), 200, priority=9)
    assert "2 due, the oldest for 3 min" in strip(root)
    assert "saga-strip-late" in html(root)


def test_steps_in_a_queue_are_due_too(root: Client) -> None:
    """Unless their execution is stopped: then nobody may take them."""
    works()
    execution = every_state.make("waiting")
    row = StepRecord.objects.filter(execution=execution, path="charge")
    row.update(row_due_at=clock.now() - timedelta(minutes=3))
    assert "1 due, the oldest for 3 min" in strip(root)
    Execution.objects.filter(pk=execution.pk).update(suspend_requested_at=clock.now())
    assert "nothing is due" in strip(root)


def test_it_is_loud_about_a_queue_that_nobody_serves(root: Client) -> None:
    works()
    overdue(every_state.make("pending"), 5, queue="labels")
    said = words(alarm(root))
    assert "Something is due in the queue “labels”, and no worker serves it." in said
    assert "Q_CLUSTER_NAME=labels manage.py qcluster" in said
    works(1, "labels@7")
    assert alarm(root) == ""
    Worker.objects.filter(cluster="tests@1").delete()
    overdue(every_state.order(every_state.act("reserve")).start(note="n"), 5)
    assert "Something is due in the default queue, and no worker serves it." in words(alarm(root))


def test_it_is_loud_about_a_wedged_cluster(root: Client) -> None:
    works()
    workers.wedged("here", "tests@1", is_so=True)
    assert "The cluster tests@1 on here takes nothing from its queue" in words(alarm(root))


def test_it_counts_what_is_stuck_and_what_came_lately(root: Client) -> None:
    execution = every_state.make("stuck held")
    every_state.make("stuck going back")
    assert "2 stuck +2 in the last hour" in strip(root)
    Execution.objects.filter(pk=execution.pk).update(status_at=clock.now() - timedelta(hours=2))
    assert "2 stuck +1 in the last hour" in strip(root)


def test_it_counts_to_a_cap(root: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulse, "MOST", 1)
    for state in ("stuck held", "stuck going back", "stuck unknown"):
        every_state.make(state)
    assert "1+ stuck" in strip(root)


def test_a_long_default_queue_hides_no_other(root: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulse, "MOST", 1)
    works()
    one = every_state.order(every_state.act("reserve"))
    for _ in range(3):
        one.start(note="n")
    overdue(one.start(note="n"), 5, queue="labels")
    assert "“labels”" in alarm(root)


def test_it_costs_one_query(root: Client) -> None:
    """However many there are of everything."""
    works(5)
    for state in ("pending", "stuck held", "waiting"):
        every_state.make(state)
    assert len(saga_queries(lambda: pulse.pulse("default"))) == 1


def test_it_is_for_those_who_may_view(client: Client) -> None:
    """A page that shows nothing of executions shows no strip either: the admin's front page has none of ours."""
    user = User.objects.create_user("staff", is_staff=True)
    client.force_login(user)
    assert "saga-strip" not in client.get("/admin/").content.decode()


def test_names_from_outside_stay_text(root: Client) -> None:
    overdue(every_state.make("pending"), 5, queue="<b>q</b>")
    works(1, "<i>c</i>@1", "<u>h</u>")
    workers.wedged("<u>h</u>", "<i>c</i>@1", is_so=True)
    assert {"<b>", "<i>", "<u>"}.isdisjoint(html(root).split("q</b>")) and "<b>q" not in html(root)
    assert "&lt;b&gt;q" in html(root) and "&lt;u&gt;h" in html(root)


def test_it_leads_to_the_workers_and_to_what_is_stuck(root: Client) -> None:
    page = html(root)
    for name in ("overview", "worker", "stuckexecution"):
        assert f'href="/admin/saga_app/{name}/"' in page
    assert 'id="saga-strip"' in page and "data-saga-live" in page


def test_a_run_leaves_nothing_due(root: Client) -> None:
    """What was just driven to its end is not late."""
    works()
    testing.run(Saga("s", every_state.act("a")), note="n")
    assert "nothing is due" in strip(root)
