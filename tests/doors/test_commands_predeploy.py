"""`manage.py saga predeploy`: each way in which other code would get an open execution stuck, and what to do."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from saga_app import Child, ForEach, If, Milestone, Pivot, Saga, Sleep, Wait, ref, step, testing
from saga_app.models import Execution
from tests.doors.http import saga_queries
from tests.doors.shell import saga, saga_json

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with testing.isolate_sagas():
        yield
    testing.clock.release()


def do(name: str, *, undone: bool = False, broken: bool = False) -> Any:
    @step(name=name, attempts=1)
    def body() -> None:
        if broken:
            raise OSError(name)

    if undone:
        body.compensate(attempts=1)(lambda: None)
    return body


def held(*nodes: Any, **values: Any) -> Execution:
    """Its last step has failed, and it waits for an operator."""
    x = Saga("s", *nodes, do("last", broken=True), on_failure="hold").start(**values)
    testing.drain()
    x.refresh_from_db()
    assert x.status == "stuck"
    return x


def troubles(*nodes: Any, revision: int = 1) -> list[dict[str, Any]]:
    """What predeploy finds where the code knows only this saga."""
    with testing.isolate_sagas():
        Saga("s", *nodes, revision=revision)
        said = io.StringIO()
        try:
            call_command("saga", "predeploy", "--json", stdout=said, stderr=io.StringIO())
        except CommandError:
            assert json.loads(said.getvalue())
        return json.loads(said.getvalue())


def test_a_revision_that_is_gone() -> None:
    x = held(do("a"))
    (found,) = troubles(do("a"), do("last"), revision=2)
    assert found == {
        "saga": "s",
        "revision": 1,
        "reason": "definition_missing",
        "path": "",
        "cure": "keep it in the code beside revision 2 until they have ended.",
        "count": 1,
        "examples": [str(x.pk)],
    }


def test_what_ran_does_not_fit() -> None:
    held(do("a"))
    (found,) = troubles(do("a"), do("new"), do("last"))
    assert (found["reason"], found["path"], found["count"]) == ("definition_changed", "", 1)
    assert found["cure"] == "keep it as it was, and write what is new as revision=2 beside it."


def test_what_ran_fits_and_could_not_be_undone() -> None:
    """Forward it would go on: only the unwind that may come would get stuck."""
    held(do("a", undone=True), do("b", undone=True))
    (found,) = troubles(do("a"), do("b", undone=True), do("last"))
    assert (found["reason"], found["path"]) == ("definition_changed", "a")
    assert found["cure"] == "keep the compensation of a until they have ended."


@pytest.mark.parametrize("mark", [Pivot, lambda: Milestone("m")], ids=["pivot", "milestone"])
def test_what_will_never_be_undone_needs_no_compensation(mark: Any) -> None:
    held(do("a", undone=True), mark(), do("b"))
    assert troubles(do("a"), mark(), do("b"), do("last")) == []


def test_on_the_way_back_only_what_is_still_owed_counts() -> None:
    x = held(do("a", undone=True), do("b", undone=True))
    x.unwind()
    assert troubles(do("a", undone=True), do("renamed")) != []
    assert troubles(do("new"), do("b", undone=True), do("a", undone=True)) == []


def test_nodes_of_every_kind_are_walked() -> None:
    Saga("sub", Wait("told"))
    nodes = (
        ForEach("line", ref("input.lines"), do("a"), concurrency=2),
        If(lambda: True, do("b")).named("sure"),
        Sleep(0.001),
        Wait("paid", timeout=5),
    )
    Saga("s", *nodes, Child("sub"), do("z")).start(lines=[1, 2])
    testing.drain()
    with testing.isolate_sagas():
        Saga("sub", Wait("told"))
        Saga("s", *nodes, Child("sub"), do("z"), do("more"))
        assert saga_json("predeploy") == []


def test_a_parent_that_waits_for_its_child() -> None:
    Saga("sub", Wait("told"))
    Saga("s", do("a"), Child("sub"), do("z")).start()
    testing.drain()
    assert Execution.objects.filter(status="waiting").count() == 2
    with testing.isolate_sagas():
        Saga("sub", Wait("told"), do("more"))
        Saga("s", do("a"), Child("sub"), do("z"), do("more"))
        assert saga_json("predeploy") == []
    (found,) = [one for one in troubles(do("a"), do("z"), Child("sub")) if one["saga"] == "s"]
    assert found["reason"] == "definition_changed"


def test_people_see_a_table_and_the_cures() -> None:
    held(do("a", undone=True))
    with testing.isolate_sagas():
        Saga("s", do("a"), do("last"))
        said = io.StringIO()
        with pytest.raises(CommandError, match="get 1 open executions stuck"):
            call_command("saga", "predeploy", stdout=said)
    assert "the compensation of a is gone" in said.getvalue()
    assert "s, revision 1: keep the compensation of a until they have ended." in said.getvalue()


def test_many_are_read_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of executions costs two questions, however many steps they have run."""
    monkeypatch.setattr("saga_app.management._saga_deploy.PAGE", 3)
    for _ in range(7):
        held(do("a"), do("b"))
    (found,) = troubles(do("a"), do("new"), do("b"), do("last"))
    assert (found["count"], len(found["examples"])) == (7, 3)
    with testing.isolate_sagas():
        Saga("s", do("a"), do("b"), do("last"), do("more"))
        queries = saga_queries(lambda: saga("predeploy"))
    assert len(queries) == 1 + 2 * 3 + 1, queries
    assert not any('"saga_app_steprecord"."output"' in query for query in queries)
