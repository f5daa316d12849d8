"""The overview: what is open, what is stuck and why, who did what; in as many queries for many as for one."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from saga_app import Approval, Saga, Wait, batches, clock, testing
from saga_app.admin import figures, overview
from saga_app.core import registry
from saga_app.models import Execution
from saga_app.store import workers
from tests.doors import every_state
from tests.doors.http import saga_queries

PAGE = "/admin/saga_app/overview/"
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


def content(client: Client) -> str:
    response = client.get(PAGE)
    assert response.status_code == 200
    return response.content.decode().partition('id="content-main"')[2]


def text_of(client: Client) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", content(client))).split())


def many(count: int, **fields: Any) -> None:
    """Rows that need no run to be counted."""
    now = clock.now()
    values = {"saga": "order", "revision": 1, "fingerprint": "", "input_text": "{}", "status": "completed"} | fields
    moments = {"created_at": now, "updated_at": now, "status_at": now} | {
        name: value for name, value in fields.items() if name.endswith("_at")
    }
    Execution.objects.bulk_create(Execution(**{**values, **moments}) for _ in range(count))


def test_a_card_for_each_open_status_leads_to_its_list(root: Client) -> None:
    for state in ("waiting", "suspended", "compensating", "stuck held", "completed", "pending"):
        every_state.make(state)
    page = content(root)
    for status in ("pending", "waiting", "suspended", "compensating", "stuck"):
        card = re.search(rf'<a href="(/admin/saga_app/execution/\?status={status})"><span[^>]*>(\d+)<', page)
        assert card and card[2] == "1", status
        assert root.get(card[1]).status_code == 200
    assert re.search(r'\?status=running"><span[^>]*>0<', page)
    assert "?status=completed" not in page


def test_stuck_executions_are_grouped_by_their_cause(root: Client) -> None:
    """The largest group first; with what was raised, where, in which direction, how many, since when."""
    for _ in range(3):
        every_state.make("stuck going back")
        testing.clock.forward(1)
    held = every_state.make("stuck held")
    Execution.objects.filter(pk=held.pk).update(status_at=clock.now() - timedelta(hours=3))
    page = content(root)
    rows = re.findall(r'class="saga-group" href="([^"]*)"', page)
    causes = list(Execution.objects.order_by("created_at").values_list("cause", flat=True))
    assert rows == [f"/admin/saga_app/stuckexecution/cause/{cause}/" for cause in (causes[0], causes[-1])]
    text = text_of(root).partition("Stuck, by cause")[2]
    first, second = text.partition("3 h ago")[0], text.partition("OSError: charge is down")[2]
    assert "3 +3 in the last hour OSError: no way back from charge" in first
    assert "a compensation failed order charge back" in first
    assert "a step failed order charge forward" in second


def test_what_raised_nothing_is_grouped_by_its_reason(root: Client) -> None:
    every_state.make("stuck without definition")
    text = text_of(root).partition("Stuck, by cause")[2]
    assert "1 +1 in the last hour no worker knows its saga order – forward" in text


def test_groups_end_somewhere(root: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overview, "MOST_GROUPS", 1)
    every_state.make("stuck held")
    assert "There are more causes" not in text_of(root)
    every_state.make("stuck going back")
    assert "There are more causes. All that is stuck" in text_of(root)


def test_what_was_stuck_before_causes_were_kept_is_in_the_list(root: Client) -> None:
    """A row of an older release has none: its group leads to the list instead of nowhere."""
    execution = every_state.make("stuck held")
    Execution.objects.filter(pk=execution.pk).update(cause="")
    assert 'class="saga-group" href="/admin/saga_app/stuckexecution/"' in content(root)


def test_nothing_stuck_is_said(root: Client) -> None:
    every_state.make("completed")
    assert "Nothing is stuck." in text_of(root)


def test_where_nothing_was_started_it_says_what_to_do_first(root: Client) -> None:
    """Define a saga; where there are some, start one."""
    assert "No execution yet. No saga is defined either." in text_of(root)
    Saga("order", every_state.act("reserve"))
    text = text_of(root)
    assert "No execution yet. One saga is defined. Start it from your code:" in text
    assert "Nothing is stuck" not in text and "What operators did" not in text


def test_sagas_have_their_counts(root: Client) -> None:
    """Those with something stuck first; each count leads to the list of it."""
    every_state.make("waiting")
    many(1, saga="another <b>", status="stuck", stuck_reason="step_failed")
    page = content(root)
    assert page.index("?saga=another%20%3Cb%3E&amp;status=stuck") < page.index("?saga=order&amp;status=waiting")
    assert "another &lt;b&gt;" in page and "another <b>" not in page


def test_how_long_the_newest_took(root: Client) -> None:
    """95 of 100 were over within p95, measured on the newest alone, and it says on how many."""
    now = clock.now()
    for seconds in range(1, 101):
        many(1, created_at=now - timedelta(seconds=seconds), finished_at=now)
    text = text_of(root)
    assert "1 min of 100" in text
    assert "of the 2,000 newest executions, 100 have ended" in text or "of the 2000 newest executions, 100" in text
    known = figures.figures()
    assert figures.percentile(known.durations["order"], 0.95) == 95


@pytest.mark.parametrize(("values", "share", "found"), [([7], 0.95, 7), ([3, 1, 2], 0.5, 2), ([1, 2], 1, 2)])
def test_a_percentile_is_one_of_the_values(values: list[float], share: float, found: float) -> None:
    assert figures.percentile(values, share) == found


def test_who_did_what_when_and_why(root: Client) -> None:
    """The newest first; what the engine does by itself is nobody's deed."""
    execution = every_state.make("stuck going back")
    user = User.objects.create_user("alice <b>")
    execution.resolve("charge", actor=user, reason="paid back <i>by hand</i>")
    testing.drain()
    every_state.again(execution)
    user.delete()
    text = text_of(root).partition("What operators did")[2]
    assert "alice <b> resolve" in text and "paid back <i>by hand</i>" in text
    assert "stuck" not in text.partition("resolve")[0]
    assert "<i>by hand" not in content(root)


def test_what_programs_send_is_no_deed(root: Client) -> None:
    """Signals of programs come by the thousand, and would leave no line for what people did."""
    execution = testing.run(Saga("gated", Wait("paid")))
    execution.suspend(reason="by a program")
    for number in range(12):
        execution.signal("paid", key=str(number))
    execution.signal("paid", actor=User.objects.get(), reason="by a person")
    text = text_of(root).partition("What operators did")[2]
    assert text.count("signal") == 1 and "by a person" in text and "by a program" in text


def test_batches_that_are_not_over(root: Client) -> None:
    """A draft is none: nobody has let it run."""
    for _ in range(2):
        every_state.make("stuck going back")
    batch = batches.freeze("resume", Execution.objects.all(), actor=User.objects.get(), chosen="all <b>")
    assert "Batches that are not over" not in text_of(root)
    type(batch).objects.filter(pk=batch.pk).update(status="running", due_at=clock.now())
    text = text_of(root)
    assert "Batches that are not over" in text and "Resume all <b> root 0 of 2 running" in text
    batch.items.filter(pk=batch.items.first().pk).update(status="accepted")
    assert "1 of 2 running" in text_of(root)


def test_as_many_queries_for_many_as_for_one(root: Client, django_assert_num_queries: Any) -> None:
    """Session and user; strip, figures, causes, deeds, batches; the approvals too, where a saga has some."""
    every_state.make("stuck held")
    with django_assert_num_queries(7):
        root.get(PAGE)
    workers.seen("here", range(1, 9), "tests@1")
    for state in every_state.STATES:
        every_state.make(state)
    many(300)
    with django_assert_num_queries(7):
        root.get(PAGE)
    Saga("gated", Approval("boss", permission="saga_app.view_execution"))
    assert len(saga_queries(lambda: root.get(PAGE))) == 6


def test_only_those_who_may_view_see_it(client: Client) -> None:
    """By no address and no method."""
    every_state.make("stuck held")
    user = User.objects.create_user("staff", is_staff=True)
    client.force_login(user)
    assert client.get(PAGE).status_code == 403
    user.user_permissions.add(Permission.objects.get(codename="view_execution"))
    assert "Stuck, by cause" in text_of(client)
    assert client.post(PAGE).status_code == 405
    assert client.get(f"{PAGE}x/change/").url == PAGE
    assert Client().get(PAGE).status_code == 302
    assert client.post(f"{PAGE}add/").status_code == 403


def test_the_sidebar_leads_to_it(root: Client) -> None:
    assert f'href="{PAGE}"' in root.get("/admin/").content.decode()
