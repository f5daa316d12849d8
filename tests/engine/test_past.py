"""The past of an execution, folded from what is kept, is what could be read then: looked at while it really ran."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from saga_app import Approval, Backoff, Child, ForEach, Parallel, Pivot, Repeat, Saga, Sleep, Wait, acting, clock, step
from saga_app import testing as kit
from saga_app.core import registry
from saga_app.core.past import Told, moments, past
from saga_app.core.snapshot import Snapshot
from saga_app.models import Execution

pytestmark = pytest.mark.django_db
AT_ONCE = Backoff(first=0, jitter=0)
LATER = Backoff(first=60, max=60, jitter=0)

looks: list[tuple[datetime, Snapshot]] = []
failing: set[str] = set()


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    looks.clear()
    failing.clear()
    kit.clock.forward(0)  # it moves only where somebody looks
    with registry.isolate():
        yield
    kit.clock.release()


def look() -> None:
    """Let a moment pass, remember what can be read at this one, and let another pass."""
    kit.clock.forward(0.001)
    now = clock.now()
    looks.extend((now, acting.facts_of(execution)) for execution in Execution.objects.filter(saga="s"))
    kit.clock.forward(0.001)


def act(name: str, *, undo: bool = True, wait: Backoff = AT_ONCE, **options: Any) -> Any:
    def body() -> str:
        look()
        if name in failing:
            raise OSError(name)
        return name

    def back() -> None:
        look()
        if f"~{name}" in failing:
            raise OSError(f"~{name}")

    made = step(name=name, backoff=wait, **{"attempts": 2, **options})(body)
    if undo:
        made.compensate(attempts=2, backoff=wait)(back)
    return made


def run(*nodes: Any, down: str = "", **options: Any) -> Execution:
    failing.update(down.split())
    return settled(kit.run(Saga("s", *nodes, **options)))


def settled(execution: Execution) -> Execution:
    kit.drain()
    look()
    return Execution.objects.get(pk=execution.pk)


def retried() -> Execution:
    execution = run(act("a"), act("b", wait=LATER), down="b")
    failing.clear()
    kit.clock.forward(61)
    return settled(execution)


def undone() -> Execution:
    return run(act("a"), act("b", undo=False), act("c"), down="c")


def stuck_and_resumed() -> Execution:
    execution = run(act("a"), act("b"), act("c"), down="c ~b")
    failing.clear()
    execution.resume()
    look()
    return settled(execution)


def stuck_and_resolved() -> Execution:
    execution = run(act("a"), act("b"), act("c"), down="c ~b")
    execution.resolve("b", reason="by hand")
    look()
    return settled(execution)


def abandoned() -> Execution:
    return settled(run(act("a"), act("b"), act("c"), down="c ~b").abandon(reason="keep it"))


def held_and_resumed() -> Execution:
    execution = run(act("a"), act("b"), act("c"), down="b", on_failure="hold")
    failing.clear()
    execution.resume()
    look()
    return settled(execution)


def held_and_skipped() -> Execution:
    execution = run(act("a"), act("b"), act("c"), down="b", on_failure="hold")
    execution.skip("b", happened=False, reason="not needed")
    look()
    return settled(execution)


def past_the_pivot() -> Execution:
    execution = run(act("a"), Pivot(), act("b"), down="b")
    failing.clear()
    execution.resume()
    return settled(execution)


def suspended() -> Execution:
    execution = run(act("a"), act("b", wait=LATER), down="b")
    execution.suspend(reason="wait")
    execution = settled(execution)
    failing.clear()
    execution.resume()
    kit.clock.forward(61)
    return settled(execution)


def cancelled() -> Execution:
    execution = run(act("a"), act("b", wait=LATER), down="b")
    execution.cancel(reason="no")
    look()
    return settled(execution)


def gates() -> Execution:
    execution = run(act("a"), Wait("paid"), Sleep(5), Approval("ok", allow=lambda: True), act("b"))
    execution.signal("paid")
    execution = settled(execution)
    kit.clock.forward(6)
    return settled(execution)


def loops() -> Execution:
    turns = iter([False, False, True])

    def over() -> bool:
        return next(turns)

    def items() -> list[int]:
        return [1, 2]

    return run(act("a"), Repeat(act("c"), until=over), ForEach("item", items, act("b")), act("d"), down="d")


def in_parallel() -> Execution:
    return run(act("a"), Parallel(x=[act("b"), act("c")], y=[act("d", wait=LATER)]), act("e"), down="e")


def in_parallel_and_failing() -> Execution:
    execution = run(act("a"), Parallel(x=[act("b"), act("c")], y=[act("d", wait=LATER)]), act("e"), down="d ~b")
    kit.clock.forward(61)
    execution = settled(execution)
    failing.clear()
    execution.resume()
    return settled(execution)


def with_a_child() -> Execution:
    child = Saga("child", act("x"), Wait("go"))
    execution = run(act("a"), Child(child), act("b"), down="b")
    Execution.objects.get(saga="child").signal("go")
    return settled(execution)


FLOWS: list[Callable[[], Execution]] = [
    retried, undone, stuck_and_resumed, stuck_and_resolved, abandoned, held_and_resumed, held_and_skipped,
    past_the_pivot, suspended, cancelled, gates, loops, in_parallel, in_parallel_and_failing, with_a_child,
]  # fmt: skip


def told(execution: Execution) -> list[Told]:
    return [Told(one.at, one.type, one.data) for one in execution.events.order_by("id")]


def summary(x: Snapshot) -> dict[str, Any]:
    """What an operator reads of it."""
    found: dict[str, Any] = {one.path: f"{one.status} {one.compensation_status}".strip() for one in x.records}
    for one in x.records:
        if one.kind == "child" and one.compensation_status == "running":
            found[one.path] = one.status  # when the undoing of a child began, nothing tells
    return found | {
        "": f"{x.status} {x.stuck_reason} {x.rollback_status}",
        "back": x.unwinding,
        "pivot": x.pivoted_at is not None,
    }


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.__name__)
def test_the_past_is_what_could_be_read_then(flow: Callable[[], Execution]) -> None:
    execution = flow()
    now = acting.facts_of(execution)
    assert len(looks) > 2
    for moment, x in looks:
        assert summary(past(now, execution.created_at, told(execution), moment)) == summary(x), moment


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.__name__)
def test_now_is_now_and_nothing_is_from_later(flow: Callable[[], Execution]) -> None:
    execution = flow()
    now, lines = acting.facts_of(execution), told(execution)
    known = moments(now, execution.created_at, lines)
    assert past(now, execution.created_at, lines, known[-1]) == now
    assert past(now, execution.created_at, lines, clock.now() + timedelta(days=1)) == now
    for moment in [execution.created_at - timedelta(days=1), *known]:
        x = past(now, execution.created_at, lines, moment)
        assert [one for one in moments(x, execution.created_at, []) if one > max(moment, execution.created_at)] == []


def test_while_it_is_tried_again_no_error_is_shown() -> None:
    """Hazard B214. What the attempt before had raised is not what is the matter with the one that runs."""
    failing.add("a")
    execution = kit.run(Saga("s", act("a", attempts=2)))
    now, lines = acting.facts_of(execution), told(execution)
    assert now.known("a").status == "failed" and now.known("a").error_text
    second = datetime.fromisoformat(now.known("a").attempts[1]["started_at"])
    then = past(now, execution.created_at, lines, second).known("a")
    assert (then.status, then.attempt, then.error_text, then.finished_at) == ("running", 2, None, None)


def test_before_its_beginning_nothing_was() -> None:
    """Hazard B215. An empty picture, and no error."""
    execution = kit.run(Saga("s", act("a")))
    now, lines = acting.facts_of(execution), told(execution)
    x = past(now, execution.created_at, lines, execution.created_at - timedelta(seconds=1))
    assert (x.status, list(x.records), x.output_text, x.started_at) == ("pending", [], None, None)
