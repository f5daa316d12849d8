"""`manage.py saga executions` and `show`: what they print for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.management.base import CommandError

from saga_app import Saga, engine, step, testing
from saga_app.core import registry
from tests.doors import every_state, http
from tests.doors.http import IN, Purchase
from tests.doors.shell import misspelt, refusal, saga, saga_json

pytestmark = pytest.mark.django_db
MAY = datetime(2024, 5, 1, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with testing.isolate_sagas():
        yield
    testing.clock.release()


@step(attempts=1)
def echo(value: Any) -> Any:
    return value


class TestExecutions:
    def test_a_table_for_people(self):
        assert saga("executions") == "No executions.\n"
        stuck, done = http.stuck(), http.completed()
        head, first, second = saga("executions").splitlines()
        assert head.split() == ["ID", "SAGA", "KEY", "STATUS", "CREATED", "WHY"]
        assert first.startswith(f"{done.pk}  buy")
        assert second.startswith(f"{stuck.pk}  hold")
        assert second.endswith("a step failed: ValueError: it broke")

    def test_json_for_programs(self):
        assert saga_json("executions") == []
        testing.clock.set(MAY)
        stuck = http.stuck()
        assert saga_json("executions") == [
            {
                "id": str(stuck.pk),
                "saga": "hold",
                "revision": 1,
                "key": None,
                "status": "stuck",
                "rollback_status": "",
                "stuck_reason": "step_failed",
                "error": {"type": "ValueError", "message": "it broke"},
                "failing_path": "fail",
                "version": stuck.version,
                "resume_count": 0,
                "due_at": None,
                "created_at": "2024-05-01T12:00:00+00:00",
                "started_at": "2024-05-01T12:00:00+00:00",
                "finished_at": None,
            }
        ]

    def test_filters(self):
        done, stuck, late = http.completed(), http.stuck(), http.stuck_past_pivot()
        keyed = http.buy().start(Purchase("A1", 1), key="order-1")
        for words, expected in [
            (["--saga", "buy"], [keyed, done]),
            (["--status", "stuck"], [late, stuck]),
            (["--stuck-reason", "failed_past_pivot"], [late]),
            (["--stuck-reason", "step_failed", "--status", "completed"], []),
            (["--key", "order-1"], [keyed]),
            (["--key", "order"], []),
            (["--limit", "1"], [keyed]),
        ]:
            assert [row["id"] for row in saga_json("executions", *words)] == [str(x.pk) for x in expected], words

    def test_filters_that_cannot_be(self):
        with pytest.raises(CommandError, match="pending") as choices:
            saga("executions", "--status", "nope")
        assert "Status." not in str(choices.value)
        misspelt("executions", "--stuck-reason", "nope")
        misspelt("executions", "--limit", "x")
        assert "--limit" in refusal("executions", "--limit", "0")

    def test_it_asks_once_and_reads_nothing_large(self):
        for _ in range(3):
            testing.run(Saga("s", echo), value="x" * 100_000)
        (query,) = http.saga_queries(lambda: saga("executions"))
        assert '"input"' not in query
        assert '"output"' not in query


class TestShow:
    def test_everything_an_operator_asks_first(self):
        execution = http.stuck()
        engine.resume(execution, reason="try \x1b[31magain", actor=http.user(name="anna"))
        testing.drain()
        text = saga("show", execution.pk)
        for expected in [
            f"hold (revision 1) {execution.pk}",
            "Status:  stuck",
            "Why:     a step failed: ValueError: it broke",
            "Cure:    Mend the cause and resume",
            "take",
            "2 of 2",
            "resume by anna: try \\x1b[31magain",
            "  resume: allowed",
            "  rerun: It has not ended yet",
        ]:
            assert expected in text
        assert "\x1b" not in text

    def test_json_for_programs(self):
        said = saga_json("show", http.stuck().pk)
        assert said["input"] == {"sku": "A1", "quantity": 2, "total": "9.99"}
        assert [(row["path"], row["status"], row["error"]) for row in said["steps"]] == [
            ("take", "completed", None),
            ("fail", "failed", "ValueError: it broke"),
        ]
        assert said["events"][0]["type"] == "start"
        assert said["verbs"]["resume"] is None
        assert said["verbs"]["rerun"] == "not_terminal"

    def test_what_still_stands_in_the_world(self):
        stuck, fine = http.stuck(), http.completed()
        assert "Still undone: take" in saga("show", stuck.pk)
        assert saga_json("show", stuck.pk)["still_undone"] == ["take"]
        assert "Still undone" not in saga("show", fine.pk)
        assert "Still undone" not in saga("show", http.cancelled().pk)

    def test_past_the_pivot_nothing_will_be_undone(self):
        late = http.stuck_past_pivot()
        assert "Still undone" not in saga("show", late.pk)
        assert saga_json("show", late.pk)["still_undone"] == []

    def test_a_running_step_that_may_have_happened_is_still_undone(self):
        stuck = http.stuck()
        stuck.steps.filter(path="take").update(status="running", outcome_known=False)
        assert saga_json("show", stuck.pk)["still_undone"] == ["take"]

    def test_stuck_on_the_way_back_the_compensation_is_to_blame(self):
        stuck = every_state.stuck_going_back()
        text = saga("show", stuck.pk)
        assert "Why:     a compensation failed: OSError: no way back from charge" in text
        assert "Went back because: OSError: ship is down" in text
        assert saga_json("show", stuck.pk)["failing_path"] == "charge"
        (row,) = saga("executions").splitlines()[1:]
        assert "a compensation failed: OSError: no way back from charge" in row

    def test_stuck_on_the_way_forward_it_went_nowhere(self):
        assert "Went back" not in saga("show", http.stuck().pk)

    @pytest.mark.parametrize("status", IN)
    def test_every_status_can_be_shown(self, status):
        execution = IN[status]()
        assert execution.status in saga("show", execution.pk)
        assert saga_json("show", execution.pk)["status"] == status

    def test_one_whose_saga_is_gone(self):
        execution = http.stuck()
        with testing.isolate_sagas():
            assert "stuck" in saga("show", execution.pk)

    def test_hostile_text_does_not_steer_the_terminal(self):
        nasty = "\x1b]0;owned\x07 \x00 \ud800 \u202e\r\n"

        @step(attempts=1)
        def fail() -> None:
            raise ValueError(nasty)

        execution = testing.run(Saga("s", echo, fail), value={nasty: nasty})
        for text in (saga("show", execution.pk), saga("executions")):
            assert all(line.isprintable() for line in text.splitlines())
        assert saga("show", execution.pk, "--json").isascii()

    def test_what_is_not_there(self):
        assert "no id" in refusal("show", "order-1")
        assert "No execution has the id" in refusal("show", "01890a5d-ac96-774b-bcce-b302099a8057")
        misspelt("show")


def test_it_wants_a_subcommand():
    misspelt()
    misspelt("dance")
    assert registry.all() == ()
