"""Schedules of django-q2 that start sagas: by its real scheduler on its real table, and by real workers."""

from __future__ import annotations

import ast
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone
from django_q.models import OrmQ, Schedule
from django_q.scheduler import scheduler

from saga_app import Saga, engine, step
from saga_app.core import registry
from saga_app.core.errors import InputError, UnknownSaga
from saga_app.models import Execution
from saga_app.queue import schedules
from saga_app.queue.schedules import Timing
from tests.queue.clusters import until
from tests.queue.works import sagas
from tests.queue.works.notes import notes

pytestmark = pytest.mark.django_db(transaction=True)
PAST = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)


@step(attempts=1)
def greet(name: str, price: Decimal = Decimal("1.50")) -> str:
    return f"hello {name}"


@pytest.fixture
def hello():
    with registry.isolate():
        yield Saga("hello", greet)


def due(saga: Saga[Any], **timing: Any) -> schedules.Planned:
    """A schedule whose time has come."""
    options = {"kind": Schedule.DAILY, "first": timezone.now() - timedelta(minutes=1), **timing}
    return schedules.add(saga, {"name": "anna", "price": Decimal("9.90")}, Timing(**options), name="nightly")


def deliver(times: int = 1) -> None:
    """Call what waits in django-q2's queue as its workers do, that many times each."""
    for queued in OrmQ.objects.order_by("pk"):
        task = queued.task
        assert task["func"] == schedules.FUNCTION
        for _ in range(times):
            schedules.start_planned(*task["args"], **task["kwargs"])
    OrmQ.objects.all().delete()


def test_each_planned_time_starts_one_execution(hello: Saga[Any]) -> None:
    made = due(hello)
    first = made.row.next_run
    scheduler()
    deliver()
    execution = Execution.objects.get()
    assert execution.key == f"schedule-{made.mark}-{first.isoformat()}"
    assert execution.input == {"name": "anna", "price": Decimal("9.90")}
    made.row.refresh_from_db()
    assert made.row.next_run == first + timedelta(days=1)
    Schedule.objects.update(next_run=timezone.now() - timedelta(seconds=1))
    scheduler()
    deliver()
    assert Execution.objects.count() == 2


def test_a_task_that_comes_twice_starts_one(hello: Saga[Any]) -> None:
    due(hello)
    scheduler()
    deliver(times=3)
    assert Execution.objects.count() == 1


def test_a_scheduler_that_fires_again_starts_one(hello: Saga[Any]) -> None:
    """It was killed after it had sent the task, before it had moved the schedule on."""
    made = due(hello)
    scheduler()
    Schedule.objects.filter(pk=made.row.pk).update(next_run=made.row.next_run)
    scheduler()
    assert OrmQ.objects.count() == 2
    deliver()
    assert Execution.objects.count() == 1


def test_two_schedules_of_one_saga_start_one_each(hello: Saga[Any]) -> None:
    first = timezone.now() - timedelta(minutes=1)
    for _ in range(2):
        due(hello, first=first)
    scheduler()
    deliver(times=2)
    assert Execution.objects.count() == 2


def test_two_made_by_one_click_too_many_start_one(hello: Saga[Any]) -> None:
    """Nothing in django-q2's table keeps a second one out that is made at the same moment."""
    made = schedules.add(hello, {"name": "anna"}, Timing(Schedule.DAILY), mark="m")
    assert schedules.add(hello, {"name": "anna"}, Timing(Schedule.DAILY), mark="m").row.pk == made.row.pk
    made.row.pk = None
    made.row.save()
    scheduler()
    assert OrmQ.objects.count() == 2
    deliver()
    assert Execution.objects.count() == 1


def test_what_was_missed_is_made_up_for_each_in_its_time(hello: Saga[Any]) -> None:
    """As django-q2 does by default: a time each, so that nothing is left out and nothing comes twice."""
    due(hello, kind=Schedule.MINUTES, minutes=5, first=timezone.now() - timedelta(minutes=11))
    for _ in range(5):
        scheduler()
        deliver(times=2)
    assert Execution.objects.count() == 3


def test_real_workers_that_get_it_twice_start_one(cluster: Any) -> None:
    made = schedules.add(sagas.quick, {"name": "anna"}, Timing(Schedule.DAILY, first=timezone.now()))
    scheduler()
    twin = OrmQ.objects.get()
    OrmQ.objects.create(key=twin.key, payload=twin.payload, lock=twin.lock)
    running = cluster(workers=2)
    until(lambda: not OrmQ.objects.exists(), running.report)
    until(lambda: Execution.objects.filter(status="completed").exists(), running.report)
    assert [one.key for one in Execution.objects.all()] == [f"schedule-{made.mark}-{made.row.next_run.isoformat()}"]
    assert len(notes("greet")) == 1


@pytest.mark.parametrize("timing", [{"kind": Schedule.DAILY}, {"kind": Schedule.MINUTES, "minutes": 7}])
def test_a_pause_skips_what_would_have_been(hello: Saga[Any], timing: dict[str, Any]) -> None:
    made = due(hello, first=PAST, repeats=4, **timing)
    schedules.pause(made.row.pk)
    schedules.pause(made.row.pk)
    paused = schedules.find("hello", made.row.pk)
    assert (paused.held, paused.left, paused.is_over) == (4, 4, False)
    scheduler()
    assert not OrmQ.objects.exists()
    schedules.go_on(made.row.pk)
    schedules.go_on(made.row.pk)
    running = schedules.find("hello", made.row.pk)
    assert (running.held, running.left) == (None, 4)
    length = timedelta(minutes=timing.get("minutes", 24 * 60))
    assert timezone.now() < running.row.next_run <= timezone.now() + length
    assert (running.row.next_run - PAST) % length == timedelta()
    scheduler()
    assert not OrmQ.objects.exists()


def test_what_a_paused_one_had_sent_still_starts(hello: Saga[Any]) -> None:
    made = due(hello)
    scheduler()
    schedules.pause(made.row.pk)
    deliver()
    assert Execution.objects.count() == 1


def test_one_that_is_over_runs_no_more(hello: Saga[Any]) -> None:
    made = due(hello, repeats=1)
    scheduler()
    deliver()
    assert schedules.find("hello", made.row.pk).is_over
    schedules.pause(made.row.pk)
    schedules.go_on(made.row.pk)
    assert schedules.find("hello", made.row.pk).left == 0


def test_what_is_removed_leaves_its_executions(hello: Saga[Any]) -> None:
    made = due(hello)
    scheduler()
    deliver()
    schedules.remove(made.row.pk)
    assert (schedules.planned("hello"), Execution.objects.count()) == ([], 1)


def test_only_ours_are_touched(hello: Saga[Any]) -> None:
    other = Schedule.objects.create(func="os.getpid", args="1", schedule_type=Schedule.DAILY)
    for act in (schedules.pause, schedules.go_on, schedules.remove):
        act(other.pk)
    other.refresh_from_db()
    assert (other.repeats, other.kwargs) == (-1, None)
    assert schedules.planned() == []


@pytest.mark.parametrize("args", ["", "1", "'a', 'b'", "(", "__import__('os')", "'hello', 1, 2, 3"])
def test_one_written_by_hand_and_wrong_is_passed_over(hello: Saga[Any], args: str) -> None:
    Schedule.objects.create(func=schedules.FUNCTION, args=args)
    made = due(hello)
    assert [one.row.pk for one in schedules.planned()] == [made.row.pk]


def test_what_it_starts_with_is_checked_when_it_is_made(hello: Saga[Any]) -> None:
    with pytest.raises(InputError):
        schedules.add(hello, {"nome": "anna"}, Timing(Schedule.DAILY))
    with pytest.raises(ValidationError):
        schedules.add(hello, {"name": "anna"}, Timing("ZZ"))
    assert not Schedule.objects.exists()


@pytest.mark.parametrize("name", ["it's", 'a "quote"', "a\\b", "\n\t", "ünïcode ☃", "{}%s", "\x00\ud800", ")'#"])
def test_any_text_comes_back(hello: Saga[Any], name: str) -> None:
    """Its arguments are a Python literal in a text column."""
    made = schedules.add(hello, {"name": name}, Timing(Schedule.DAILY, first=timezone.now() - timedelta(days=1)))
    made.row.refresh_from_db()
    assert len(ast.literal_eval(made.row.args)) == 3
    scheduler()
    OrmQ.objects.all().delete()
    schedules.start_planned(*ast.literal_eval(made.row.args), planned="2026-03-01T02:00:00+00:00")
    assert Execution.objects.get().input["name"] == name


def test_what_cannot_be_started_is_told_to_the_queue(hello: Saga[Any]) -> None:
    """It keeps that as a failed task, and brings it again: a time is late, and not lost."""
    made = due(hello)
    with registry.isolate(), pytest.raises(UnknownSaga):
        schedules.start_planned("hello", made.text, made.mark, planned="t")
    schedules.start_planned("hello", made.text, made.mark, planned="t")
    assert Execution.objects.count() == 1


def test_the_newest_revision_is_started(hello: Saga[Any]) -> None:
    made = due(hello)
    Saga("hello", greet, revision=2)
    schedules.start_planned("hello", made.text, made.mark, planned="t")
    assert Execution.objects.get().revision == 2
    assert engine.start("hello", name="anna").revision == 2
