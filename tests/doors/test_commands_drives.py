"""`manage.py saga drain` and `predeploy`, and how the command ends as a process."""

from __future__ import annotations

import io
import json
import signal
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from saga_app import Pivot, Saga, clock, step, testing
from saga_app.models import Execution
from tests.doors import http
from tests.doors.http import IN, Purchase
from tests.doors.shell import refusal, saga, saga_json
from tests.processes import Processes, environment

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with testing.isolate_sagas():
        yield
    testing.clock.release()


@step(attempts=1)
def echo(value: Any) -> Any:
    return value


class TestPredeploy:
    def test_the_same_code_is_fine(self):
        for make in IN.values():
            make()
        assert saga("predeploy") == "Every open execution goes on with this code.\n"
        assert saga_json("predeploy") == []

    def test_a_saga_that_is_gone(self):
        execution, done = http.stuck(), http.completed()
        with testing.isolate_sagas():
            said = io.StringIO()
            with pytest.raises(CommandError, match="get 1 open executions stuck"):
                call_command("saga", "predeploy", stdout=said)
        assert "no worker knows its saga" in said.getvalue()
        assert str(execution.pk) in said.getvalue()
        assert str(done.pk) not in said.getvalue(), "what has ended does not matter"

    def test_a_revision_that_is_gone(self):
        http.pending()
        with testing.isolate_sagas():
            Saga("buy", http.take, input=Purchase, revision=2)
            refusal("predeploy")
            http.buy()
            assert saga_json("predeploy") == []

    @pytest.mark.parametrize(
        ("nodes", "fits"),
        [
            ((http.take, http.fail), True),
            ((http.take, http.fail, echo.bind(value=1)), True),
            ((http.take, http.fail, Pivot()), True),
            ((http.take, Pivot(), http.fail), False),
            ((http.take, echo.bind(value=1), http.fail), False),
            ((echo.bind(value=1), http.take, http.fail), False),
            ((http.fail, http.take), False),
            ((http.take,), False),
            ((http.fail,), False),
        ],
    )
    def test_a_saga_that_has_changed(self, nodes, fits):
        """What ran must be how the new one begins: the engine asks the same when it drives it."""
        execution = http.stuck()  # ran take and fail
        waits = Saga("hold", http.take, http.fail, input=Purchase, on_failure="hold").start(Purchase("A1", 2))
        with testing.isolate_sagas():
            Saga("hold", *nodes, input=Purchase, on_failure="hold")
            said = io.StringIO()
            if fits:
                call_command("saga", "predeploy", "--json", stdout=said)
                assert json.loads(said.getvalue()) == []
                return
            with pytest.raises(CommandError):
                call_command("saga", "predeploy", "--json", stdout=said)
        (trouble,) = json.loads(said.getvalue())
        assert (trouble["reason"], trouble["count"]) == ("definition_changed", 1)
        assert trouble["examples"] == [str(execution.pk)]
        assert str(waits.pk) not in said.getvalue(), "nothing of it has run"

    def test_many_of_one_kind_are_one_line(self):
        for _ in range(5):
            http.pending()
        with testing.isolate_sagas():
            said = io.StringIO()
            with pytest.raises(CommandError):
                call_command("saga", "predeploy", "--json", stdout=said)
            (trouble,) = json.loads(said.getvalue())
            assert (trouble["count"], len(trouble["examples"])) == (5, 3)


@pytest.mark.django_db(transaction=True)
class TestDrain:
    def test_it_drives_what_is_due_and_leaves_the_rest(self):
        now = [http.buy().start(Purchase("A1", n)) for n in range(3)]
        later = http.buy().using(due=clock.now() + timedelta(hours=1)).start(Purchase("A1", 9))
        assert saga("drain") == "Nothing is due any more after 3 claims. Open executions: 1 pending.\n"
        assert {Execution.objects.get(pk=x.pk).status for x in now} == {"completed"}
        assert Execution.objects.get(pk=later.pk).status == "pending"

    def test_json_for_programs(self):
        http.buy().start(Purchase("A1", 1))
        assert saga_json("drain") == {"claims": 1, "stopped": False, "open": {}}
        assert saga_json("drain") == {"claims": 0, "stopped": False, "open": {}}

    def test_it_says_how_far_it_is(self, monkeypatch):
        monkeypatch.setattr("saga_app.management._saga_drive.PROGRESS_EVERY", 0.0)
        for n in range(3):
            http.buy().start(Purchase("A1", n))
        said, progress = io.StringIO(), io.StringIO()
        call_command("saga", "drain", "--json", stdout=said, stderr=progress)
        assert progress.getvalue().splitlines() == [
            "1 claims so far, 2 due",
            "2 claims so far, 1 due",
            "3 claims so far, 0 due",
        ]
        assert json.loads(said.getvalue())["claims"] == 3

    def test_a_saga_that_this_process_does_not_know_is_put_back(self):
        execution = http.buy().start(Purchase("A1", 1))
        with testing.isolate_sagas():
            saga("drain")
        now = Execution.objects.get(pk=execution.pk)
        assert (now.status, now.stuck_reason) == ("waiting", "")
        assert now.due_at > clock.now()


SLOW = """
import django
django.setup()
import sys, time
from django.core.management import call_command
from saga_app import Saga, step

@step(attempts=1)
def first(n):
    time.sleep(1)

@step(attempts=1)
def second():
    pass

saga = Saga("slow", first, second)
for n in range(3):
    saga.start(n=n)
print("started", flush=True)
call_command("saga", "drain")
"""


@pytest.mark.acceptance
@pytest.mark.django_db(transaction=True)
class TestAsAProcess:
    def finished(self, children: Processes, *words: str) -> tuple[int, str]:
        child = children.start("manage.py", "saga", *words)
        return child.wait(30), children.output(child)

    def test_exit_codes(self, children):
        """0: done; 1: refused, in a sentence; 2: misspelt. Never a traceback."""
        stuck = http.stuck()
        assert self.finished(children, "executions")[0] == 0
        for words, expected in [
            (("predeploy",), 1),
            (("abandon", str(stuck.pk)), 1),
            (("show", "nonsense"), 1),
            (("dance",), 2),
        ]:
            code, said = self.finished(children, *words)
            assert (code, "Traceback" in said) == (expected, False), said

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_drain_stops_between_two_steps(self, children, number):
        """The body that runs is let finish and is recorded; the rest waits for the next worker, due at once."""
        child = children.start("-c", SLOW, env=environment())
        deadline = time.monotonic() + 20
        while not Execution.objects.filter(status="running").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        child.send_signal(number)
        assert child.wait(20) == 0, children.output(child)
        said = children.output(child)
        assert "Stopped after 1 claims" in said
        first = Execution.objects.get(status="running")
        assert [(row.path, row.status) for row in first.steps.all()] == [("first", "completed")]
        assert first.lease_holder is None
        assert Execution.objects.filter(status="pending").count() == 2
        assert Execution.objects.due().count() == 3
