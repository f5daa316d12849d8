"""The admin's pages, for an execution in every state: they are there, say the truth, and stay small and quick."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from time import process_time
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from saga_app import clock, codec, step, testing
from saga_app.core import registry
from saga_app.models import Execution
from tests.doors import every_state

ROOT = "/admin/saga_app/execution/"
STUCK = "/admin/saga_app/stuckexecution/"
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_sagas():
    with registry.isolate():
        yield


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    return client


def run_page(execution: Execution) -> str:
    return f"{ROOT}{execution.pk}/change/"


def text_of(response: Any) -> str:
    """What a person reads: no tags, no runs of blanks."""
    assert response.status_code == 200

    main = response.content.decode().partition('id="content-main"')[2]
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", main)).split())


SAYS = {
    "pending": ["Pending.", "No step has begun."],
    "waiting": ["Waiting.", "charge", "attempt 1 of 2", "OSError: charge is down"],
    "suspended": ["Suspended by an operator.", "Resume lets it go on"],
    "compensating": [
        "Compensating.",
        "reserve",
        "compensation, attempt 1 of 2",
        "Still undone",
        "OSError: charge is down",
    ],
    "stuck going back": [
        "Stuck: a compensation failed. charge (compensation, attempt 2 of 2)",
        "OSError: no way back from charge",
        "Read the error of the compensation",
        "It went back because a step failed.",
        "OSError: ship is down",
        "Still undone",
        "stops here for an operator a compensation failed",
        "reserve waits behind the stop",
        "Skip, Unwind, Cancel It is already going back.",
    ],
    "stuck past the pivot": ["Stuck: a step failed past the pivot.", "ship (attempt 2 of 2)", "past the pivot"],
    "stuck held": ["Stuck: a step failed.", "charge (attempt 2 of 2)", "Unwind to undo what was done so far."],
    "stuck unknown": ["Stuck: nobody knows whether a step had its effect.", "Look in the system that the step calls"],
    "stuck undecodable": ["Stuck: a stored value cannot be read back.", "Bring back what the value needs"],
    "stuck without definition": ["Stuck: no worker knows its saga.", "Deploy the code that defines this saga"],
    "completed": ["Completed.", "1 optional step failed", "Rerun…"],
    "failed": ["Failed, rolled back.", "OSError: ship is down", "Nothing is left undone."],
    "undone by hand": ["rolled back, 1 step by hand", "resolved by hand", "paid back by hand"],
    "cancelled": ["Cancelled, rolled back.", "It went back because it was cancelled."],
    "abandoned": ["Failed, rollback abandoned.", "Still undone", "reserve", "the customer keeps it"],
}


@pytest.mark.parametrize("state", every_state.STATES)
def test_a_run_page_says_what_is_and_what_to_do(root: Client, state: str) -> None:
    page = text_of(root.get(run_page(every_state.make(state))))
    assert [words for words in SAYS[state] if words not in page] == []


def test_a_running_step_is_shown_as_running(root: Client) -> None:
    """Looked at from inside its body: that is when it runs."""
    seen: list[str] = []

    @step(name="look", attempts=1)
    def look(note: str) -> None:
        execution = Execution.objects.get()
        seen.append(text_of(root.get(run_page(execution))))

    testing.run(every_state.order(look), note="n")
    assert "Running. look (attempt 1 of 1)" in seen[0]


def test_a_run_page_needs_as_many_queries_for_many_steps(root: Client, django_assert_num_queries: Any) -> None:
    """Nor does a long history cost more.

    Session, user, the strip; the execution and its records, once; the history's moments and one page of it; one
    page of the steps, the step of the cause, what is undone; and what it waits for, its children, its milestones, its
    signals.
    """
    many = [every_state.act(f"s{i}") for i in range(45)]
    for execute in (lambda: every_state.make("stuck going back"), lambda: every_state.run(*many, broken="s44 ~s20")):
        execution = execute()
        with django_assert_num_queries(14):
            assert root.get(run_page(execution)).status_code == 200


def test_a_long_execution_is_shown_in_slices(root: Client) -> None:
    execution = every_state.run(*[every_state.act(f"s{i}") for i in range(45)], broken="s44 ~s20")
    first, second = (text_of(root.get(f"{run_page(execution)}?steps={number}")) for number in (1, 2))
    assert "page 1 of 3, 45 in all" in first
    assert ("s19 " in first.partition("Steps")[2], "s20 " in first.partition("Steps")[2]) == (True, False)
    assert "s20 " in second.partition("Steps")[2]
    html = root.get(run_page(execution)).content.decode()
    assert re.search(r'href="[^"]*\?steps=2#step-20"', html)  # the cause leads to the slice that has its step
    assert 'id="step-20"' in root.get(f"{run_page(execution)}?steps=2").content.decode()
    assert "and 1 more" in first  # 21 are undone, 20 are shown
    assert root.get(f"{run_page(execution)}?steps=99&events=x").status_code == 200


def test_a_plan_begins_where_it_stands(root: Client) -> None:
    execution = every_state.run(*[every_state.act(f"s{i}") for i in range(45)], broken="s44 ~s10")
    page = text_of(root.get(run_page(execution))).partition("Unwind plan")[2]
    assert "settled steps before these" in page
    assert "s10 stops here for an operator" in page


def test_large_outputs_make_a_small_page(root: Client) -> None:
    def large(name: str) -> Any:
        return step(name=name, attempts=1)(lambda note: "x" * 900_000)

    execution = testing.run(every_state.order(*[large(f"s{i}") for i in range(40)]), note="n")
    began = process_time()
    page = root.get(run_page(execution))
    assert process_time() - began < 2
    assert len(page.content) < 1024 * 1024
    assert "the beginning of 900" in text_of(page)


def test_an_execution_that_is_not_there_leads_to_the_list(root: Client) -> None:
    for address in (f"{ROOT}{clock.uuid7()}/change/", f"{ROOT}nonsense/change/", f"{ROOT}{clock.uuid7()}/verb/resume/"):
        page = root.get(address, follow=True)
        assert page.redirect_chain[-1] == (ROOT, 302)
        assert "There is no execution" in page.content.decode()


def test_the_stuck_list_leads_to_the_one_run_page(root: Client) -> None:
    execution = every_state.make("stuck held")
    assert root.get(f"{STUCK}{execution.pk}/change/").url == run_page(execution)
    assert root.get(f"{STUCK}{execution.pk}/").status_code == 302


def test_values_are_shown_as_a_person_reads_them(root: Client) -> None:
    execution = every_state.make("completed")
    page = text_of(root.get(run_page(execution)))
    assert '"note": "</script><img src=x onerror=alert(1)>{{7*7}}' in page
    assert codec.decode(execution.input_text)["note"] == every_state.HOSTILE


def test_a_late_result_is_told(root: Client) -> None:
    from saga_app.store import events
    from saga_app.store.transactions import alias

    execution = every_state.make("failed")
    events.late_result(execution.pk, alias(), {"path": "ship", "note": every_state.HOSTILE})
    assert "after its worker had lost the execution" in text_of(root.get(run_page(execution)))


def test_what_no_worker_knows_says_so_before_it_is_stuck(root: Client) -> None:
    execution = every_state.make("pending")
    with registry.isolate():
        testing.drain()
        page = text_of(root.get(run_page(execution)))
    assert "Waiting for a worker that knows saga “order”, revision 1." in page
    assert "Deploy the code that defines this saga" in page
    assert "This process knows no such saga and revision" in page  # instead of a plan


def test_what_nobody_takes_up_asks_for_a_worker(root: Client) -> None:
    execution = every_state.make("pending")
    Execution.objects.filter(pk=execution.pk).update(due_at=clock.now() - timedelta(minutes=10))
    assert "Does a qcluster run?" in text_of(root.get(run_page(execution)))
