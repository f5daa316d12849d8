"""Saga: its shape, its fingerprint, its two phases, and its doors."""

from __future__ import annotations

import asyncio
import math
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from saga_app import DefinitionError, InputError, NotReady, Pivot, Saga, ref, step
from saga_app.core import doors, registry
from saga_app.core.nodes import Node
from saga_app.core.saga import bind_doors
from saga_app.core.steps import Step
from tests import strategies

PIVOT = Pivot()
ROOT = Path(__file__).parents[2]


@dataclass
class Order:
    order_id: int
    priority: int = 0


def made(name: str, **options: Any) -> Step[..., Any]:
    return step(name=name, **options)(lambda: None)


@pytest.fixture(autouse=True)
def _isolated() -> Any:
    with registry.isolate():
        yield


# Shape


def test_a_saga_keeps_what_was_written() -> None:
    """Nodes and steps in order, revision, output, title; and it says in which module it stands."""
    a, b = made("a"), made("b")
    saga = Saga("place-order", a, PIVOT, b, output=ref("a"), revision=3, on_failure="hold", title="Place order")
    assert (saga.nodes, saga.steps) == ((a, PIVOT, b), (a, b))
    assert (saga.name, saga.revision, saga.on_failure, saga.title) == ("place-order", 3, "hold", "Place order")
    assert (saga.output, saga.module, saga.input_type) == (ref("a"), __name__, None)
    assert (saga.timeout, saga.queue) == (None, None)
    slow = Saga("slow", a, timeout=timedelta(hours=1), queue="slow")
    assert (slow.timeout, slow.queue) == (3600.0, "slow")
    assert Saga[Any]("generic", a).module == __name__
    assert (saga.step("b"), saga.step("c")) == (b, None)
    assert repr(saga) == "<saga place-order revision 3>"


@given(strategies.nodes())
def test_the_pivot_divides_the_steps(nodes: tuple[Node, ...]) -> None:
    """Every step stands before the pivot or past it; exactly the last one before it is right before it."""
    saga = Saga("s", *nodes)
    past = [saga.past_pivot(one.name) for one in saga.steps]
    right_before = [saga.before_pivot(one.name) for one in saga.steps]
    assert past == sorted(past)
    if not saga.has_pivot:
        assert not any(past + right_before)
    else:
        before = past.count(False)
        assert right_before == [place == before - 1 for place in range(len(past))]
    assert not saga.before_pivot("nobody")
    assert not saga.past_pivot("nobody")


def plain() -> None: ...


def hiding(function: Any) -> Any:
    def inner() -> None: ...

    inner.__wrapped__ = function  # type: ignore[attr-defined]
    return inner


@pytest.mark.parametrize(
    ("name", "nodes", "options", "cure"),
    [
        ("s", [], {}, "Saga(…, first_step"),
        ("s", [PIVOT], {}, "has no steps"),
        ("s", [Pivot], {}, "write Pivot()"),
        ("s", [plain], {}, "`plain` is a plain function: write @step"),
        ("s", [hiding(made("a"))], {}, "outermost decorator"),
        ("s", [[made("a")]], {}, "one after the other"),
        ("s", ["a"], {}, "which is no node: write a step"),
        ("s", [None], {}, "which is no node: write a step"),
        ("s", [Order], {}, "which is no node: write a step"),
        ("s", [PIVOT, made("a"), PIVOT], {}, "leave one"),
        ("", [made("a")], {}, "as in place-order"),
        ("a b", [made("a")], {}, "as in place-order"),
        ("1", [made("a")], {}, "as in place-order"),
        ("s" * 101, [made("a")], {}, "at most 100"),
        (3, [made("a")], {}, 'write text, as in "place-order"'),
        ("s", [made("a")], {"revision": 0}, "from 1 on"),
        ("s", [made("a")], {"revision": True}, "from 1 on"),
        ("s", [made("a")], {"revision": "2"}, "from 1 on"),
        ("s", [made("a")], {"revision": 2**31}, "from 1 on"),
        ("s", [made("a")], {"on_failure": "stop"}, "There is `hold`, `unwind`."),
        ("s", [made("a")], {"on_failure": "unwnd"}, "Did you mean `unwind`?"),
        ("s", [made("a")], {"output": "a"}, 'output=ref("name")'),
        ("s", [made("a")], {"timeout": 0}, "timeout is 0: write a number of seconds that is more than 0"),
        ("s", [made("a")], {"timeout": math.inf}, "ten years"),
        ("s", [made("a")], {"timeout": "1h"}, "write seconds"),
        ("s", [made("a")], {"queue": ""}, 'queue="slow"'),
    ],
)
def test_refusals(name: Any, nodes: list[Any], options: dict[str, Any], cure: str) -> None:
    """What is no saga is refused when written, with the cure, and does not join the registry."""
    with pytest.raises(DefinitionError) as refused:
        Saga(name, *nodes, **options)
    assert cure in str(refused.value)
    assert registry.all() == ()


# Fingerprint


def with_handler(one: Step[..., Any]) -> Step[..., Any]:
    one.compensate(lambda: None)
    return one


def with_reconcile(one: Step[..., Any]) -> Step[..., Any]:
    one.reconcile(lambda: None)
    return one


def test_the_fingerprint_is_the_shape() -> None:
    """Two sagas of one shape have one fingerprint, whatever their names, bodies and policies."""
    one = Saga("one", made("a"), PIVOT, made("b"), revision=1)
    two = Saga("two", made("a", attempts=9, title="A"), PIVOT, step(name="b")(plain), revision=2, on_failure="hold")
    assert one.fingerprint == two.fingerprint
    assert len(one.fingerprint) == 64


def test_every_part_of_the_shape_counts() -> None:
    """Names, order, provides, atomic, required, handlers, opting out and the pivot's place each change it."""
    rows: list[list[Node]] = [
        [made("a"), made("b")],
        [made("b"), made("a")],
        [made("a"), made("c")],
        [made("a")],
        [made("a"), made("b", provides="x")],
        [made("a"), made("b", atomic=True)],
        [made("a"), made("b", required=False)],
        [made("a"), with_handler(made("b"))],
        [made("a"), with_reconcile(made("b"))],
        [with_handler(made("a")), with_handler(made("b"))],
        [made("a"), PIVOT, made("b")],
        [PIVOT, made("a"), made("b")],
        [made("a"), made("b"), PIVOT],
    ]
    assert len({Saga("s", *row).fingerprint for row in rows}) == len(rows)
    opted_out = with_handler(made("b")).named(compensate=False)
    assert Saga("s", made("a"), opted_out).fingerprint == Saga("s", *rows[0]).fingerprint


def test_the_fingerprint_is_the_same_in_every_process() -> None:
    """It is stored, so nothing of this process (hash seed, addresses) may be in it."""
    code = "from saga_app import *; print(Saga('s', step(name='a')(lambda: 1), Pivot()).fingerprint)"
    other = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT, env={"PYTHONHASHSEED": "7"}
    )
    assert other.stdout.strip() == Saga("s", made("a"), PIVOT).fingerprint


def test_sealing_settles_the_fingerprint() -> None:
    """A handler declared below the saga counts; once sealed nothing changes it."""
    one = made("a")
    saga = Saga("s", one)
    before = saga.fingerprint
    one.compensate(lambda: None)
    after = saga.fingerprint
    saga.seal()
    assert before != after == saga.fingerprint


# Two phases


def test_building_looks_nothing_up() -> None:
    """A saga can be built while what it needs is not there yet; sealing finds out, and says so again."""
    one = step(name="one")(lambda missing: None)
    saga = Saga("s", one, input=Order)
    assert not saga.sealed
    for _ in range(2):
        with pytest.raises(DefinitionError, match="missing"):
            saga.seal()
    assert not saga.sealed


def test_sealing_happens_at_first_use() -> None:
    """Whoever asks for a plan or the input gets them, sealed or not."""
    one = made("a")
    saga = Saga("s", one, input=Order)
    assert saga.call(one).sources == {}
    assert saga.sealed
    assert saga.input_names == {"order_id": True, "priority": False}


def test_annotations_that_cannot_be_resolved_do_not_stop_it() -> None:
    """Names that only type checkers import are common; the other annotations still count."""

    def body(order: Nowhere, total: int, ctx: AlsoNowhere) -> Never: ...  # type: ignore[name-defined]  # noqa: F821

    saga = Saga("s", step(body))
    assert saga.accept(None, {"order": object, "total": 1})["total"] == 1
    with pytest.raises(InputError, match="total: must be int, is str"):
        saga.accept(None, {"order": object, "total": "1"})


# Doors


def test_before_the_app_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    """start() while modules are being imported says what to do."""
    monkeypatch.setattr(doors, "_doors", doors._Doors())
    saga = Saga("s", made("a"))
    for call in (saga.start, saga.run, saga.using(priority=1).start):
        with pytest.raises(NotReady, match="INSTALLED_APPS"):
            call()
    with pytest.raises(NotReady):
        asyncio.run(saga.astart())


def awaited(function: Any) -> Any:
    async def twin(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return twin


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Doors that note who came through."""
    monkeypatch.setattr(doors, "_doors", doors._Doors())
    through: list[Any] = []
    bind_doors(
        start=lambda *args, **kwargs: through.append(("start", *args, kwargs)),  # type: ignore[func-returns-value]
        run=lambda *args, **kwargs: through.append(("run", *args, kwargs)),  # type: ignore[func-returns-value]
        awaited=awaited,
    )
    return through


def test_what_goes_through_the_doors(opened: list[Any]) -> None:
    """Values travel as one mapping, so a field called `priority` is not the option; key and actor are words."""
    saga = Saga("s", made("a"), input=Order)
    whole = Order(1)
    due = datetime(2024, 5, 1, tzinfo=UTC)
    saga.start(whole, key="k", actor="me")
    saga.start(order_id=1, priority=5)  # type: ignore[call-overload]
    saga.using(queue="slow", priority=2, due=due).start({"order_id": 1})  # type: ignore[call-overload]
    saga.run(whole)
    asyncio.run(saga.astart(whole))
    asyncio.run(saga.using().arun(whole, key="k"))
    saga.start()  # type: ignore[call-overload]
    nothing = {"key": None, "actor": None}
    options = {"priority": 0, "due": None}
    assert opened == [
        ("start", saga, whole, {"key": "k", "actor": "me"}),
        ("start", saga, {"order_id": 1, "priority": 5}, nothing),
        ("start", saga, {"order_id": 1}, {**nothing, "queue": "slow", "priority": 2, "due": due}),
        ("run", saga, whole, nothing),
        ("start", saga, whole, nothing),
        ("run", saga, whole, {"key": "k", "actor": None, **options}),
        ("start", saga, None, nothing),
    ]


def test_a_whole_input_and_values_are_refused(opened: list[Any]) -> None:
    """Nobody could say which of them counts."""
    saga = Saga("s", made("a"), input=Order)
    with pytest.raises(InputError, match="the one or the other"):
        saga.start(Order(1), order_id=2)  # type: ignore[call-overload]
    assert opened == []


def test_it_can_be_imported_before_django() -> None:
    """`saga_app` is for writing sagas: importing it loads neither Django nor a clock's owner."""
    code = "import saga_app, sys; print([one for one in sys.modules if one.split('.')[0] in {'django', 'asgiref'}])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"
