"""Every kind of node, waiting and over, as the API, the command and the run page tell it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from saga_app import (
    Approval,
    Branch,
    Child,
    Compute,
    ForEach,
    If,
    Milestone,
    Parallel,
    Pivot,
    Repeat,
    Saga,
    Sleep,
    Try,
    Wait,
    While,
    ref,
    step,
    testing,
)
from saga_app.models import Execution
from tests.doors.http import client, one
from tests.doors.shell import saga, saga_json

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with testing.isolate_sagas():
        yield


def do(name: str, *, broken: bool = False) -> Any:
    @step(name=name, attempts=1, queue=None)
    def body() -> str:
        if broken:
            raise OSError(name)
        return name

    body.compensate(attempts=1)(lambda: None)
    return body


ANYBODY = {"allow": lambda actor: True}

NODES: dict[str, Callable[[], Any]] = {
    "compute": lambda: Compute("a", lambda: 1),
    "branch": lambda: Branch(lambda: "x", x=do("a"), y=do("b")).named("way"),
    "if": lambda: If(lambda: False, do("a")).named("sure"),
    "while": lambda: While(lambda iteration: iteration < 2, do("a")).named("more"),
    "repeat": lambda: Repeat(do("a"), until=lambda iteration: iteration == 1).named("enough"),
    "foreach": lambda: ForEach("line", ref("input.lines"), do("a"), concurrency=2),
    "parallel": lambda: Parallel(do("a"), b=[do("b"), do("c")]),
    "try": lambda: Try(do("a", broken=True), recover=do("b")),
    "child": lambda: Child("sub"),
    "wait": lambda: Wait("told", timeout=0.001, on_timeout=[do("a")]),
    "approval": lambda: Approval("boss", **ANYBODY, timeout=0.001, on_timeout=[do("a")]),
    "sleep": lambda: Sleep(0.001),
    "milestone": lambda: Milestone("m"),
    "pivot": Pivot,
    "waiting for a signal": lambda: Wait("told"),
    "waiting for somebody": lambda: Approval("boss", **ANYBODY),
    "waiting for a child": lambda: Child("slow"),
    "asleep": lambda: Sleep(3600),
    "failed in a group": lambda: Parallel(do("a"), b=[do("b", broken=True)]),
    "failed in a child": lambda: Child("bad"),
    "too many turns": lambda: While(lambda: True, do("a"), max_iterations=2).named("more"),
}


@pytest.fixture(params=NODES)
def execution(request: pytest.FixtureRequest) -> Execution:
    Saga("sub", do("in_child"))
    Saga("slow", Wait("told"))
    Saga("bad", do("in_child", broken=True))
    made = Saga("s", do("first"), NODES[request.param](), do("last"))
    made.seal()
    x = made.start(**({"lines": [1, 2, 3]} if made.input_names else {}))
    testing.drain()
    x.refresh_from_db()
    assert x.status in ("completed", "waiting", "failed"), x.status
    return x


def test_the_api_tells_it(execution: Execution) -> None:
    said = client("view").get(one(execution))
    assert said.status_code == 200
    assert said.json()["status"] == execution.status


def test_the_command_tells_it(execution: Execution) -> None:
    assert execution.status in saga("show", execution.pk)
    told = saga_json("show", execution.pk)
    assert [row["path"] for row in told["steps"]] == [one.path for one in execution.steps.order_by("seq")]


def test_the_run_page_tells_it(execution: Execution) -> None:
    by = Client()
    by.force_login(User.objects.create_superuser("root"))
    page = by.get(reverse("admin:saga_app_execution_change", args=[execution.pk]))
    assert page.status_code == 200
    assert all(one.path in page.content.decode() for one in execution.steps.all())
