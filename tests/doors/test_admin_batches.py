"""Batches in the admin: selected in a list, shown before they run, begun, watched, stopped."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from saga_app import batches, clock, engine
from saga_app.admin.batches import begin_url
from saga_app.core.batching import BATCH_VERBS
from saga_app.models import Execution, OperatorBatch
from tests.doors.batch_page import LISTS, ROOT, begun_by, do, do_url, made, page_of, select, signed_in, text_of
from tests.doors.confirm_page import hidden_fields
from tests.selections import again, draft, drive, once_each, operator, outcomes, rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def anna() -> User:
    return operator(*BATCH_VERBS)


@pytest.fixture
def client(anna: User) -> Client:
    return signed_in(anna)


@pytest.mark.parametrize("where", LISTS)
@pytest.mark.parametrize("verb", BATCH_VERBS)
def test_an_action_freezes_and_shows(client: Client, anna: User, where: str, verb: str) -> None:
    """Nothing happens to any execution before somebody confirms what the draft shows."""
    one, two, _other = rows(3)
    before = list(Execution.objects.order_by("pk").values())
    answer = select(client, verb, [one, two], where)
    batch = made()
    assert (answer.status_code, answer.url) == (302, page_of(batch)) == (302, begin_url("admin", batch))
    assert (batch.verb, batch.status, batch.size, batch.actor) == (verb, "draft", 2, anna)
    assert batch.chosen.endswith("2 by hand")
    assert {item.execution_id for item in batch.items.all()} == {one.pk, two.pk}
    page = text_of(client.get(answer.url))
    assert f"{verb.capitalize()}: 2 executions" in page and "not begun" in page
    assert list(Execution.objects.order_by("pk").values()) == before
    assert drive(batch).status == "draft"


def test_ten_thousand_selected_across_pages(client: Client) -> None:
    """Case C25. One POST with one ticked box and "all of them": a redirect in seconds, and no hidden input per row."""
    rows(10_050)
    began = clock.monotonic()
    answer = select(client, "resume", q="?status=stuck")
    assert answer.status_code == 302 and clock.monotonic() - began < 10
    batch = made()
    assert batch.size == batch.items.count() == 10_050 and "status=stuck" in batch.chosen
    page = client.get(answer.url)
    assert "10050 of 10050 can be changed now." in text_of(page).replace(",", "")
    assert len(page.content) < 200_000
    assert do(client, batch, "begin", reason="mended", canary="20").status_code == 302
    held = drive(batch)
    assert held.status == "holding" and outcomes(batch) == {"accepted": 20, "pending": 10_030}
    assert once_each(batch, "resume")


def test_a_filter_selects_what_it_shows(client: Client) -> None:
    """All of a narrowed list are those, and not the table."""
    rows(3)
    rows(2, "completed")
    select(client, "resume", where="stuckexecution")
    assert made().size == 3
    OperatorBatch.objects.all().delete()
    select(client, "resume", q="?status=completed")
    assert made().size == 2
    assert "of 2" in (page := text_of(client.get(page_of(made())))) and "It has ended" in page


def test_nothing_selected_makes_no_batch(client: Client) -> None:
    answer = client.post(LISTS["execution"], {"action": "batch_resume", "select_across": "1", "index": "0",
                                              "_selected_action": [str(clock.uuid7())]}, follow=True)  # fmt: skip
    assert "Nothing was selected" in answer.content.decode()
    assert not OperatorBatch.objects.exists()


def test_the_preview_says_who_is_left_out_and_why(client: Client, anna: User) -> None:
    """Counted by reason, in sentences; what changed since it was selected is told as well."""
    rows(4)
    rows(3, "completed")
    rows(2, "running", due_at=clock.now())
    batch = batches.freeze("resume", Execution.objects.all(), actor=anna)
    changed = Execution.objects.filter(status="stuck").first()
    assert changed
    engine.suspend(Execution.objects.filter(status="running").first(), reason="x")
    Execution.objects.filter(pk=changed.pk).update(version=9)
    page = text_of(client.get(page_of(batch)))
    assert "3 of 9 can be changed now." in page
    for number, sentence in ((3, "It has ended"), (2, "There is nothing to resume"), (1, "It has changed since")):
        assert f"{number} {sentence}" in page
    assert page.index("3 It has ended") < page.index("2 There is nothing") < page.index("1 It has changed")


def test_the_preview_is_what_comes_of_it(client: Client, anna: User) -> None:
    """Every state that executions can be in, every verb: so many accepted as the preview said."""
    for verb in BATCH_VERBS:
        everything = every_state_in_rows()
        batch = batches.freeze(verb, Execution.objects.filter(pk__in=everything), actor=anna)
        said = batches.preview(batch)
        drive(batches.begin(batch, actor=anna, reason="r"))
        assert batch.items.filter(status="accepted").count() == said.eligible, verb
        refused = {code: number for code, number in outcomes(batch).items() if code != "accepted"}
        assert refused == said.refused, verb


def every_state_in_rows() -> list[Any]:
    then = clock.now()
    kinds = [
        rows(1), rows(1, pivoted_at=then), rows(1, unwinding_at=then), rows(1, "completed"), rows(1, "suspended"),
        rows(1, "running", due_at=then), rows(1, "running", due_at=then, cancel_requested_at=then),
        rows(1, "running", due_at=then, suspend_requested_at=then), rows(1, "waiting", due_at=then),
        rows(1, "compensating", due_at=then, unwinding_at=then), rows(1, "running", due_at=then, lease_holder="h:1:x"),
    ]  # fmt: skip
    return [execution.pk for made in kinds for execution in made]


def test_begin_watch_pause_go_on(client: Client, anna: User) -> None:
    """From the draft to the end by its buttons; each is in the batch's history, and in Django's."""
    rows(8)
    select(client, "resume", where="stuckexecution")
    batch = made()
    do(client, batch, "begin", reason="the provider is back", canary="3", rate="")
    page = text_of(client.get(page_of(batch)))
    assert "running" in page and "0 of 8" in page and "the provider is back" in page
    do(client, batch, "pause")
    assert "paused" in text_of(client.get(page_of(batch)))
    do(client, batch, "go_on")
    drive(batch)
    page = client.get(page_of(batch))
    assert "waits for your word on the rest" in text_of(page) and "Go on with the rest" in text_of(page)
    assert '<progress max="8" value="3"' in page.content.decode()
    do(client, batch, "go_on")
    assert drive(batch).status == "completed"
    page = client.get(page_of(batch))
    assert "8 accepted" in text_of(page) and "do/" not in page.content.decode()
    assert [line["what"] for line in again(batch).history] == [
        "begin", "pause", "go_on", "hold", "go_on", "complete",
    ]  # fmt: skip
    assert [entry.change_message for entry in LogEntry.objects.order_by("pk")] == [
        "begin: resume", "pause: resume", "go_on: resume", "go_on: resume",
    ]  # fmt: skip
    run_page = client.get(f"{LISTS['execution']}{batch.items.first().execution_id}/change/").content.decode()
    assert str(batch.pk) in run_page and "the provider is back" in run_page


def test_cancel_and_discard(client: Client) -> None:
    batch = begun_by(client, 4, canary=1)
    drive(batch)
    do(client, batch, "cancel")
    page = text_of(client.get(page_of(batch)))
    assert "cancelled" in page and "1 of 4" in page and "3 not yet" in page
    rows(1)
    select(client, "cancel")
    other = OperatorBatch.objects.get(status="draft")
    answer = client.get(page_of(other))
    gone = client.post(do_url(other, "discard"), {"version": hidden_fields(answer)["version"]}, follow=True)
    assert "nothing was done" in gone.content.decode()
    assert list(OperatorBatch.objects.all()) == [batch]
    assert "no such batch" in client.get(page_of(other), follow=True).content.decode()


@pytest.mark.parametrize(
    ("filled", "said"),
    [
        ({"reason": "", "count": "3"}, "This field is required"),
        ({"reason": "old", "count": "2"}, "This batch has 3 executions, not 2."),
        ({"reason": "old"}, "This field is required"),
        ({"reason": "old", "count": "3", "canary": "-1"}, "greater than or equal to 0"),
        ({"reason": "old", "count": "3", "rate": "0"}, "greater than or equal to 0.001"),
        ({"reason": "old", "count": "3", "rate": "nan"}, "Enter a number"),
    ],
)
def test_who_abandons_many_types_how_many(client: Client, filled: dict[str, str], said: str) -> None:
    """And says why. What was filled in wrongly is asked again, and nothing has begun."""
    rows(3)
    select(client, "abandon")
    batch = made()
    assert said in unescape(do(client, batch, "begin", **filled).content.decode())
    assert again(batch).status == "draft"
    assert do(client, batch, "begin", reason="old", count="3").status_code == 302
    assert again(batch).status == "running"


def test_two_with_the_same_page_open(client: Client) -> None:
    """The version is in the page: the second is told that somebody was first, and nothing is done twice."""
    batch = begun_by(client, 2)
    stale = {"version": batch.version}
    do(client, batch, "pause")
    for act in ("pause", "go_on", "cancel"):
        answer = client.post(do_url(batch, act), stale, follow=True)
        assert "was first: paused." in answer.content.decode()
    assert again(batch).status == "paused"
    assert client.post(do_url(batch, "cancel"), {}).status_code == 302, "no version at all: nothing"
    assert again(batch).status == "paused"


def test_items_by_outcome_and_in_pages(client: Client, anna: User) -> None:
    """Each leads to its execution as it is now; a refusal says why."""
    rows(70)
    rows(2, "completed")
    batch = batches.freeze("resume", Execution.objects.order_by("created_at"), actor=anna)
    drive(batches.begin(batch, actor=anna))
    first = client.get(page_of(batch))
    assert "page 1 of 2, 72 in all" in text_of(first) and "70 accepted" in text_of(first)
    assert first.content.decode().count("saga-item-accepted") == 51  # fifty rows, and the link that counts them
    refused = client.get(f"{page_of(batch)}?outcome=refused")
    assert "It has ended" in text_of(refused).partition("Executions")[2]
    shown = re.findall(r"/admin/saga_app/execution/([0-9a-f-]+)/change/", refused.content.decode())
    assert len(shown) == 2 and {
        str(pk) for pk in batch.items.filter(status="refused").values_list("execution", flat=True)
    } == {*shown}
    assert client.get(f"{page_of(batch)}?outcome=nonsense&items=99").status_code == 200


def test_a_page_needs_as_many_queries_for_many_as_for_few(client: Client, anna: User) -> None:
    """Drafts and running ones, of three executions or of three hundred."""
    counted: dict[str, list[int]] = {"draft": [], "running": []}
    for size in (3, 300):
        made_of = [one.pk for one in rows(size)]
        batch = batches.freeze("resume", Execution.objects.filter(pk__in=made_of), actor=anna)
        for status, found in counted.items():
            with CaptureQueriesContext(connection) as queries:
                client.get(page_of(batch))
            found.append(len([one for one in queries if "saga_app_" in one["sql"]]))
            if status == "draft":
                drive(batches.begin(batch, actor=anna, canary=2))
    assert counted["draft"][0] == counted["draft"][1] and counted["running"][0] == counted["running"][1], counted
    assert max(*counted["draft"], *counted["running"]) <= 8, counted


def test_the_list_is_of_batches_newest_first(client: Client, anna: User) -> None:
    old = draft(actor=anna)
    new = draft("abandon", actor=anna, count=0)
    page = client.get(ROOT)
    assert text_of(page).index("Abandon") < text_of(page).index("Resume")
    assert page_of(old) in page.content.decode() and page_of(new) in page.content.decode()
    assert "all of them" in text_of(page) and "anna" in text_of(page)
    with CaptureQueriesContext(connection) as few:
        client.get(ROOT)
    for _ in range(20):
        draft(actor=anna, count=0)
    with CaptureQueriesContext(connection) as many:
        client.get(ROOT)
    assert len(few) == len(many)


def test_the_number_to_begin_with_is_in_the_address(client: Client, anna: User) -> None:
    """`?canary=1`, from "resume one first": the form has it."""
    page = client.get(f"{page_of(draft(actor=anna))}?canary=1").content.decode()
    assert re.search(r'name="canary" value="1"', page)
