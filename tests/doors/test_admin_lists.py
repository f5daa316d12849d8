"""The lists of executions: what they say of each state, and how many questions that takes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from saga_app import Approval, Child, Saga, Sleep, Wait, clock, step, testing
from saga_app.admin import changelist
from saga_app.core import registry
from saga_app.models import Execution, StepRecord
from tests.doors import every_state
from tests.doors.listed import EXECUTIONS, STUCK, listed, many, row, rows, text_of
from tests.doors.test_admin_pages import run_page

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_sagas():
    with registry.isolate():
        yield


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    return client


def by(root: Client, address: str, column: str) -> str:
    """What a click on that column's head asks for."""
    return f"?o={root.get(address).context['cl'].list_display.index(column)}"


def age(execution: Execution, **by: timedelta) -> None:
    """Let those moments of the row be longer ago."""
    Execution.objects.filter(pk=execution.pk).update(**{name: clock.now() - ago for name, ago in by.items()})


ROWS = {
    "pending": ["pending", "– forward", "not begun"],
    "waiting": ["waiting", "charge forward", "1/2"],
    "suspended": ["suspended", "– forward"],
    "compensating": ["compensating", "reserve back", "1/2"],
    "stuck going back": ["stuck a compensation failed", "charge back", "2/2"],
    "stuck past the pivot": ["stuck a step failed past the pivot", "ship forward", "2/2"],
    "stuck held": ["stuck a step failed", "charge forward", "2/2"],
    "stuck unknown": ["stuck nobody knows whether a step had its effect", "charge back"],
    "stuck without definition": ["stuck no worker knows its saga", "– forward", "–"],
    "completed": ["completed 1 optional step failed", "–", "–"],
    "failed": ["failed rolled back", "ship went back", "2/2"],
    "undone by hand": ["failed rolled back, 1 step by hand", "ship went back"],
    "cancelled": ["cancelled rolled back", "charge went back"],
    "abandoned": ["failed rollback abandoned", "ship went back", "2/2"],
}


@pytest.mark.parametrize("state", ROWS)
def test_a_row_says_what_is(root: Client, state: str) -> None:
    execution = every_state.make(state)
    cells = row(root, EXECUTIONS, execution)
    assert cells["state"].startswith(ROWS[state][0])
    shown = [cells["step"], cells["attempts"]]
    assert [words for words in ROWS[state][1:] if words not in shown] == []
    assert (execution.pk in listed(root, STUCK)) == state.startswith("stuck")


def test_a_list_does_not_say_that_nothing_went_back(root: Client) -> None:
    """A step that failed with nothing to undo only failed."""
    failed = every_state.run(every_state.act("charge", undo=False), broken="charge")
    assert failed.rollback_status == "not_applicable" and failed.unwinding_at is not None
    assert row(root, EXECUTIONS, failed)["step"] == "charge"


@pytest.mark.parametrize(
    ("node", "says"),
    [
        (lambda: Wait("paid", timeout=600), "waits for a signal"),
        (lambda: Approval("agree", allow=lambda actor: True), "waits for an approval"),
        (lambda: Sleep(600), "sleeps"),
        (lambda: Child(Saga("below", Wait("paid"))), "waits for its child"),
    ],
)
def test_what_is_not_called_says_what_it_waits_for(root: Client, node: Any, says: str) -> None:
    """It has no attempts, and a dash would say that nothing is expected."""
    execution = testing.run(Saga("above", node()))
    assert row(root, EXECUTIONS, execution)["attempts"] == says


def test_a_gate_whose_time_was_up_waits_no_more(root: Client) -> None:
    execution = testing.run(Saga("above", Wait("paid", timeout=600), on_failure="hold"))
    testing.clock.forward(601)
    testing.drain()
    assert row(root, EXECUTIONS, execution)["attempts"] == "signal"


def test_a_running_step_is_shown_as_running(root: Client) -> None:
    """Looked at from inside its body: that is when it runs."""
    seen: list[dict[str, str]] = []

    @step(name="look", attempts=1)
    def look(note: str) -> None:
        seen.append(row(root, EXECUTIONS, Execution.objects.get()))

    testing.run(every_state.order(look), note="n")
    shown = [seen[0][name] for name in ("state", "step", "attempts", "due")]
    assert shown == ["running", "look forward", "1/1", "with a worker"]


def test_the_age_is_that_of_the_status(root: Client) -> None:
    """Not of the last write: a progress that is written each second made a stuck one look young."""
    execution = every_state.make("stuck held")
    age(execution, created_at=timedelta(days=3), status_at=timedelta(hours=2))
    assert row(root, STUCK, execution)["since"] == "2 h"
    assert row(root, EXECUTIONS, execution)["since"] == "2 h"


def test_what_is_late_says_how_late(root: Client) -> None:
    execution = every_state.make("pending")
    Execution.objects.filter(pk=execution.pk).update(due_at=clock.now() + timedelta(minutes=5, seconds=30))
    assert row(root, EXECUTIONS, execution)["due"] == "in 5 min"
    Execution.objects.filter(pk=execution.pk).update(due_at=clock.now() - timedelta(minutes=5))
    assert row(root, EXECUTIONS, execution)["due"] == "5 min late"
    assert "saga-error" in root.get(EXECUTIONS).content.decode()


def test_resumed_before_is_told(root: Client) -> None:
    execution = every_state.make("stuck held")
    execution.resume(reason="the provider is back")
    testing.drain()
    assert row(root, STUCK, execution)["attempts"] == "4/4, resumed ×1"


def test_of_ten_thousand_items_one_record_is_read(root: Client, django_assert_max_num_queries: Any) -> None:
    """The step that is shown is picked by the database, and nothing else of the items leaves it."""
    from saga_app.admin.facts import facts_of

    execution = every_state.make("waiting")
    charge = StepRecord.objects.get(execution=execution, name="charge")
    StepRecord.objects.bulk_create(
        StepRecord(
            execution=execution, seq=number, path=f"item[{number}]", name="item", status="queued",
            row_due_at=clock.now(), idempotency_key=str(number),
        )
        for number in range(100, 400)
    )  # fmt: skip
    with django_assert_max_num_queries(1):
        facts = facts_of([execution])[execution.pk]
    assert (facts.path, facts.is_open) == ("item[399]", True)
    assert charge.seq < 100


def test_newest_first_and_the_other_way(root: Client) -> None:
    """In the stuck list it is when they got stuck that counts: the last one is why somebody was called."""
    made = [every_state.make("stuck held") for _ in range(3)]
    for execution, created, stuck in zip(made, (3, 2, 1), (1, 3, 2), strict=True):
        age(execution, created_at=timedelta(hours=created), status_at=timedelta(minutes=stuck))
    first, second, third = (execution.pk for execution in made)
    assert listed(root, EXECUTIONS) == [third, second, first]
    assert listed(root, EXECUTIONS + by(root, EXECUTIONS, "created")) == [first, second, third]
    assert listed(root, STUCK) == [first, third, second]
    assert listed(root, STUCK + by(root, STUCK, "since")) == [second, third, first]
    assert listed(root, STUCK + by(root, STUCK, "created")) == [first, second, third]


def test_only_what_an_index_has_in_order_can_be_sorted_by(root: Client) -> None:
    """An address that asks for another column gets the order of the list."""
    made = [every_state.make("stuck held") for _ in range(2)]
    age(made[0], created_at=timedelta(hours=1), status_at=timedelta(hours=1))
    for address, columns in ((EXECUTIONS, {"created"}), (STUCK, {"since", "created"})):
        shown = root.get(address).context["cl"]
        assert {
            name for name in shown.list_display if shown.get_ordering_field(name) and name in shown.sortable_by
        } == columns
        assert listed(root, address + by(root, address, "of_saga")) == [made[1].pk, made[0].pk]


def test_a_list_counts_to_a_cap_and_goes_on_behind_it(root: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    many(120)
    assert "120 executions" in text_of(root.get(EXECUTIONS))
    monkeypatch.setattr(changelist, "CAP", 100)
    page = text_of(root.get(EXECUTIONS))
    assert "10,000+ executions" in page and "Narrow" in page
    first, second = listed(root, EXECUTIONS), listed(root, EXECUTIONS + "?p=2")
    assert root.get(EXECUTIONS + "?p=3").status_code == 302
    behind = root.get(EXECUTIONS + "?p=2").context["cl"].older()
    third = listed(root, EXECUTIONS + behind)
    assert len({*first, *second, *third}) == 120
    assert set(second) & set(third) == {second[-1]}  # the moment itself again: several may have been created in it
    assert root.get(EXECUTIONS + "?p=1").context["cl"].older() == ""
    assert root.get(EXECUTIONS + behind).context["cl"].older() == ""


def test_a_list_needs_as_many_queries_for_fifty_as_for_one(root: Client, django_assert_num_queries: Any) -> None:
    """Session, user, count, the page, the facts, the sagas; and the strip."""
    every_state.make("stuck going back")
    with django_assert_num_queries(7):
        root.get(EXECUTIONS)
    many(60)
    for state in ("failed", "completed", "waiting"):
        every_state.make(state)
    for address in (EXECUTIONS, STUCK, EXECUTIONS + "?status=failed&saga=order"):
        with django_assert_num_queries(7):
            root.get(address)
    searched = f"{EXECUTIONS}?q={Execution.objects.values_list('pk', flat=True)[0]}"
    with django_assert_num_queries(8):  # and what is called exactly that
        root.get(searched)


def test_a_viewer_needs_no_more_than_ten(client: Client, django_assert_max_num_queries: Any) -> None:
    from tests.doors.test_admin_permissions import somebody

    every_state.make("stuck going back")
    viewer = somebody("view_execution")
    for address in (EXECUTIONS, STUCK):
        with django_assert_max_num_queries(10):
            assert viewer.get(address).status_code == 200


def test_what_moves_is_brought_up_to_date_cell_by_cell(root: Client) -> None:
    """No row comes or goes under the pointer, and no box that was ticked is made anew."""
    execution = every_state.make("waiting")
    page = root.get(EXECUTIONS).content.decode()
    for part in ("status", "step", "attempts", "since", "created", "due"):
        assert f'id="saga-{part}-{execution.pk}" data-saga-live' in page
    assert page.count("data-saga-live") >= 6
    assert [cells["state"] for cells in rows(root, EXECUTIONS)] == ["waiting"]
    assert run_page(execution) in page
