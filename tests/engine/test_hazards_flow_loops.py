"""Hazards of loops: each turn has records, keys, arguments and a compensation of its own, whatever dies on the way."""

from __future__ import annotations

from typing import Any

import pytest

from saga_app import Backoff, Branch, Compute, ForEach, Repeat, Saga, While, ref
from tests import ledger
from tests.engine.drives import DATABASES, dies, killed, refusing, writes_to
from tests.engine.flows import paths, run, settled
from tests.harness import (
    DONE,
    NOTHING_OWED,
    OK,
    UNWOUND,
    calls,
    do,
    end,
    error,
    fail,
    keys,
    now,
    ok,
    outcomes,
    per,
    rec,
    seen,
)
from tests.script import Entry
from tests.shared_clock import clock

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]

LINES = ref("input.lines")
NOW = Backoff(first=0, jitter=0)
IN_AN_HOUR = Backoff(first=3600, max=3600, jitter=0)


def turns(*nodes: Any, most: int = 2, **options: Any) -> Repeat:
    """So many turns and one."""
    return Repeat(*nodes, until=lambda iteration: iteration >= most, **options).named("again")


def test_a_key_is_of_a_turn() -> None:
    """Hazard A2. Hazard B5. Hazard B6. Its number is in its path, whoever drives it and however often."""
    second = per("line", {"B": [dies(), ok()]})
    x = Saga("each", ForEach("line", LINES, do("p", second, attempts=2, takes="line"))).start(lines=["A", "B", "C"])
    killed(x)
    assert end(settled(x)) == DONE
    assert ledger.paths() == ["line[0]/p", "line[1]/p", "line[1]/p", "line[2]/p"] and len(keys("p")) == 3
    assert [one.idempotency_key for one in x.steps.filter(name="p").order_by("seq")] == [
        f"saga:{x.pk}:line[{turn}]/p:forward" for turn in range(3)
    ]


@pytest.mark.parametrize("kind", ["foreach", "repeat", "while"])
def test_a_turn_is_not_taken_again(kind: str) -> None:
    """Hazard A108. Hazard A107. Hazard A18. Who takes over goes on in that very turn; each turn is kept."""
    plan = per("iteration", {1: [dies("after"), ok(lambda iteration: iteration)]}, [ok(lambda iteration: iteration)])
    p = do("p", plan, attempts=2, takes="iteration")
    loop: Any = {
        "foreach": lambda: ForEach("again", lambda: [5, 6, 7], p),
        "repeat": lambda: turns(p),
        "while": lambda: While(lambda iteration: iteration < 3, p).named("again"),
    }[kind]()
    x = Saga("s", loop).start()
    killed(x)
    assert end(settled(x)) == DONE and [one["iteration"] for one in seen("p")] == [0, 1, 1, 2]
    assert [rec(x, f"again[{turn}]/p").output for turn in range(3)] == [0, 1, 2]


def test_attempts_are_counted_for_each_turn_over_deaths() -> None:
    """Hazard R5. Two deaths in one turn use up that turn's attempts, and no other's."""
    plan = per("iteration", {1: [dies(), dies()]})
    x = Saga("s", turns(do("p", plan, attempts=2, takes="iteration"))).start()
    for _ in range(2):
        killed(x)
    assert end(settled(x)) == NOTHING_OWED
    assert [one["iteration"] for one in seen("p")] == [0, 1, 1] and rec(x, "again[1]/p").attempt == 2


def test_what_was_chosen_is_not_asked_again() -> None:
    """Hazard A128. Hazard A18. It would answer otherwise now; only a failed answer is asked for again."""
    answers = iter(["a", "b"])
    tries = iter([ValueError("not yet"), None])

    def half(n: int) -> int:
        failed = next(tries)
        if failed:
            raise failed
        return n // 2

    way = Branch(lambda: next(answers), a=[do("in_a", dies(), ok(), attempts=2)], b=do("in_b")).named("way")
    x = Saga("s", Compute("half", half, attempts=2, backoff=NOW), way, output=ref("half")).start(n=8)
    killed(x)
    x = settled(x)
    assert end(x) == DONE and calls("in_a") == 2 and calls("in_b") == 0
    assert x.output == 4 and (rec(x, "half").attempt, rec(x, "half").kind) == (2, "compute")


def test_every_turn_is_undone_with_what_it_was() -> None:
    """Hazard A96. Hazard A97. Hazard A98. Hazard A100. The turn that failed too; each once, with its own arguments."""
    plan = per("iteration", {2: [fail(OSError)]}, [ok(lambda iteration: f"c{iteration}")])
    x = run(Saga("s", turns(do("p", plan, comp=OK, takes="iteration"), most=5)))
    assert end(x) == UNWOUND
    assert outcomes(x) == {f"again[{turn}]/p": "compensated" for turn in range(3)}
    assert [(one["iteration"], one.get("result")) for one in seen("~p")] == [(2, None), (1, "c1"), (0, "c0")]


def test_names_that_look_alike() -> None:
    """Hazard A102. Hazard A104. A loop's record, its steps and a step of a similar name are told apart, both ways."""
    each = ForEach("charge", LINES, do("charge_extra", ok(lambda charge: charge), comp=OK, takes="charge"))
    x = run(
        Saga("s", do("charge_0", comp=OK), each, do("charge_extra_1", comp=OK), do("z", fail(OSError))), lines=[1, 2]
    )
    assert end(x) == UNWOUND
    assert [one for one in ledger.paths() if one[0] == "~"][-4:] == [
        "~charge_extra_1", "~charge[1]/charge_extra", "~charge[0]/charge_extra", "~charge_0",
    ]  # fmt: skip


@pytest.mark.parametrize("items", [7, "ABC", {"a": 1}, None])
def test_items_that_are_no_list(items: Any) -> None:
    """Hazard A109. Hazard B133. It fails, saying what to give it; it neither skips them nor takes letters for items."""
    x = run(Saga("s", Compute("found", lambda: items), ForEach("line", ref("found"), do("p", takes="line"))))
    assert end(x) == NOTHING_OWED and calls("p") == 0
    assert "give it a list" in error(x, "line") and rec(x, "line").attempt == 1


@pytest.mark.parametrize("concurrency", [1, 3])
def test_no_items(concurrency: int) -> None:
    """Hazard B133. An empty loop is over at once, and has an empty list of results."""
    each = ForEach("line", LINES, do("p", takes="line"), concurrency=concurrency).named("line", provides="all")
    x = run(Saga("s", each, do("end", takes="all")), lines=[])
    assert end(x) == DONE and seen("end") == [{"all": []}]


@pytest.mark.parametrize("choice", ["nowhere", "", 3, None, True])
def test_a_way_that_is_not_there(choice: Any) -> None:
    """Hazard A111. It fails and names the paths there are; no path is taken, and it is not asked again."""
    x = run(Saga("s", do("t", comp=OK), Branch(lambda: choice, a=do("a"), b=do("b")).named("way"), do("z")))
    assert end(x) == UNWOUND and calls("a") == calls("b") == calls("z") == 0
    assert "a" in error(x, "way") and "b" in error(x, "way") and rec(x, "way").attempt == 1


@pytest.mark.parametrize("first", [1, 3])
def test_a_failure_in_a_turn_that_cannot_be_recorded_at_once(first: int) -> None:
    """Hazard A7. Hazard A8. The database refuses for a moment: what is recorded then is what the step has said."""
    clock.set(clock.now())
    left = [0]

    def shut(_call: Any) -> None:
        left[0] = first
        raise ValueError("no more B")

    def refuses(sql: str) -> bool:
        if left[0] and writes_to("execution")(sql):
            left[0] -= 1
            return True
        return False

    p = do("p", per("line", {"B": [Entry(shut)]}), comp=OK, takes="line")
    with refusing(refuses) as refused:
        x = run(Saga("s", ForEach("line", LINES, p)), lines=["A", "B"])
    assert len(refused) == first and end(x) == UNWOUND and calls("p") == 2
    assert "ValueError: no more B" in error(x, "line[1]/p") and "no more B" in now(x).error.message


def test_one_item_at_a_time() -> None:
    """Hazard B132. Also when the drive is broken off between the items: by a pause, by a death, by an hour's wait."""
    plan = per("line", {"A": [fail(OSError), ok()], "B": [dies(), ok()]})
    p = do("p", plan, attempts=2, takes="line", backoff=IN_AN_HOUR)
    x = Saga("s", ForEach("line", LINES, p, do("q", takes="line"))).start(lines=["A", "B", "C"])
    x = settled(x)
    assert now(x).status == "waiting" and calls("p") == 1
    clock.forward(3601)
    killed(x)
    x = settled(x)
    assert end(x) == DONE
    both = [(one.name, one.data["line"]) for one in ledger.begun() if one.name in "pq"]
    assert both == [("p", "A"), ("p", "A"), ("q", "A"), ("p", "B"), ("p", "B"), ("q", "B"), ("p", "C"), ("q", "C")]


def test_a_loop_that_does_not_end() -> None:
    """Hazard B129. It is stopped after as many turns as it may have; and a loop comes back as often as it says."""
    x = run(Saga("s", While(lambda: True, do("p", comp=OK), max_iterations=3).named("ever")))
    assert end(x) == UNWOUND and calls("p") == calls("~p") == 3
    assert "LoopExhausted" in now(x).error.type and "max_iterations" in now(x).error.message


def test_where_a_record_stands_is_in_its_path() -> None:
    """Hazard B13. Hazard B14. Hazard B139. There are no edges to follow: a walk from the top finds each."""
    inner = ForEach("item", lambda iteration: list(range(iteration)), do("x", takes="item"))
    x = run(Saga("s", do("a"), turns(do("b"), inner, do("c")), do("d")))
    expected = ["a"]
    for turn in range(3):
        p = f"again[{turn}]"
        expected += [f"{p}/b", f"{p}/item", *[f"{p}/item[{i}]/x" for i in range(turn)], f"{p}/c", p]
    assert end(x) == DONE and paths(x) == [*expected, "d"]
    assert {one.path: one.name for one in x.steps.all()}["again[2]/item[1]/x"] == "x"
