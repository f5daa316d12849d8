"""Signals over HTTP, and what the API says of an execution that waits for them, for a time, or for a child."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client

from saga_app import Approval, Child, Parallel, Saga, Sleep, Wait, executor, ref, step, testing
from saga_app.models import Execution, Signal
from saga_app.store.transactions import inside_transactions
from tests.doors import http
from tests.doors.http import is_problem, one, post

MAY = datetime(2024, 5, 1, 12, tzinfo=UTC)
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with testing.isolate_sagas():
        yield
    testing.clock.release()


@pytest.fixture
def api() -> Client:
    return http.client("signal", "view")


@pytest.fixture
def detail() -> Callable[[Execution], dict[str, Any]]:
    """What the API says of an execution."""
    reader = http.client("view")
    return lambda execution: reader.get(one(execution)).json()


def gated(**options: object) -> Execution:
    return testing.run(Saga("gated", Wait("go", timeout=60), output=ref("go"), timeout=3600, **options))


def send(api: Client, execution: Execution, **body: object):
    return post(api, one(execution, "signal"), {"name": "go", **body})


def now(execution: Execution) -> Execution:
    testing.drain()
    return Execution.objects.get(pk=execution.pk)


class TestSend:
    def test_it_opens_the_gate_and_brings_its_payload(self, api):
        execution = gated()
        response = send(api, execution, payload={"a": [1, None, "x"]}, reason="it came")
        assert response.status_code == 200
        assert response.json()["unread_signals"] == 1
        assert now(execution).output == {"a": [1, None, "x"]}
        assert execution.events.of("signal").values_list("actor_name", "reason").get() == ("signal-view", "it came")

    def test_under_one_key_it_is_kept_once(self, api):
        execution = gated()
        assert [send(api, execution, payload=n, key="k").status_code for n in (1, 2)] == [200, 200]
        assert Signal.objects.get().payload == 1

    @pytest.mark.parametrize(
        ("body", "pointer"),
        [
            ({"name": None}, "/name"),
            ({"name": ""}, "/name"),
            ({"name": "x" * 256}, "/name"),
            ({"name": 7}, "/name"),
            ({"key": ""}, "/key"),
            ({"key": 7}, "/key"),
            ({"paylaod": 1}, "/paylaod"),
            ({"payload": "x" * 1024 * 1024}, "/payload"),
        ],
    )
    def test_what_cannot_be_taken_is_named(self, api, body, pointer):
        execution = gated()
        problem = send(api, execution, **body)
        assert problem.status_code == 400
        assert [error["pointer"] for error in problem.json()["errors"]] == [pointer]
        assert not Signal.objects.exists()

    def test_a_name_that_nothing_waits_for_is_refused_with_the_nearest(self, api):
        problem = is_problem(send(api, gated(), name="goo"), 409, "no_such_gate")
        assert "go" in problem["detail"]

    def test_an_ended_one_takes_none(self, api):
        execution = gated()
        send(api, execution)
        assert now(execution).status == "completed"
        is_problem(send(api, execution), 409, "terminal")

    def test_no_execution(self, api):
        execution = gated()
        execution.pk = "00000000-0000-0000-0000-000000000000"
        is_problem(send(api, execution), 404, "not_found")


class TestWhatItWaitsFor:
    def test_a_signal_until_a_time(self, detail):
        testing.clock.set(MAY)
        said = detail(gated())
        assert said["waits_for"] == [
            {
                "kind": "signal",
                "path": "go",
                "signal": "go",
                "until": "2024-05-01T12:01:00Z",
                "child": None,
                "queue": "",
                "served": True,
            }
        ]
        assert said["deadline_at"] == "2024-05-01T13:00:00Z"

    def test_a_person_and_a_time_side_by_side(self, detail):
        decision = Approval("ok", allow=lambda actor: actor.is_staff)
        execution = testing.run(Saga("side", Parallel(decision, nap=[Sleep(60)])))
        assert [one["kind"] for one in detail(execution)["waits_for"]] == ["sleep", "approval"]

    def test_a_child(self, detail):
        execution = testing.run(Saga("parent", Child(Saga("kid", Wait("go")))))
        child = execution.children.get()
        said = detail(execution)
        assert (said["children"], said["waits_for"][0]["child"]) == ([str(child.pk)], str(child.pk))
        assert detail(child)["parent_id"] == str(execution.pk)

    def test_a_queue_that_nobody_serves(self, detail):
        @step(queue="labels")
        def label() -> None:
            """Never called: nobody drives it here."""

        execution = Saga("queued", label).start()
        with inside_transactions():
            executor.drive_next(holder="here:1", queues=("",))
        (wait,) = detail(execution)["waits_for"]
        assert (wait["kind"], wait["queue"], wait["served"]) == ("worker", "labels", False)
