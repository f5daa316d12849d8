"""Cases about nodes that hold others: branches that run side by side and fail, and loops over items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext

from saga_app import ForEach, Parallel, Saga, SagaError, ref
from saga_app.models import Execution
from saga_app.queue import inline
from saga_app.store.transactions import alias
from tests.harness import (
    DONE,
    OK,
    UNWOUND,
    calls,
    clear,
    do,
    end,
    error,
    fail,
    failed_steps,
    hang,
    keys,
    meet,
    ok,
    order,
    outcomes,
    paths,
    per,
    reject,
    run,
    seen,
    until,
    why,
    work,
)
from tests.script import Entry

MANY = [40, pytest.param(200, marks=pytest.mark.slow)]


@dataclass
class Lines:
    lines: list[str]


def trip(*air: Entry) -> Saga[Any]:
    hotel = do("hotel", hang(2) >> ok(), comp=OK)
    return Saga("trip", do("t", comp=OK), Parallel(do("car", comp=OK), hotel, do("air", *air, comp=OK)), do("mail"))


def test_c11_what_was_refused_is_not_undone_and_what_ran_is() -> None:
    """Case C11. One parallel branch fails while others run: these settle, and then each is undone once."""
    x = run(trip(until("hotel began", "car done") >> reject()), n=3)
    assert end(x) == UNWOUND
    assert outcomes(x) == {"t": "compensated", "car": "compensated", "hotel": "compensated", "air": ""}
    assert calls("hotel") == calls("~hotel") == calls("~car") == calls("~t") == 1
    assert calls("~air") == calls("mail") == 0 and order()[-1] == "~t"


def test_c11_what_may_have_happened_is_undone_too() -> None:
    """Case C11. The branch that failed may have worked."""
    x = run(trip(until("hotel began", "car done") >> fail(OSError)), n=3)
    assert end(x) == UNWOUND and calls("~air") == 1
    assert set(outcomes(x).values()) == {"compensated"} and order()[-1] == "~t"


@pytest.mark.parametrize("many", MANY)
def test_c11_all_end_at_the_same_instant(many: int) -> None:
    """Case C11. The join is one decision: whoever comes last goes on, and nobody twice."""
    clear()
    j = Saga("j", Parallel(*[do(f"b{i}", meet(4, at_most=0.2) >> ok()) for i in range(4)]), do("join"))
    xs = [j.start() for _ in range(many)]
    work(4, patience=300)
    assert {end(x) for x in xs} == {DONE} and calls("join") == many and len(order()) == 5 * many


@pytest.mark.parametrize("many", MANY)
def test_c11_all_fail_at_the_same_instant(many: int) -> None:
    """Case C11. All causes are kept."""
    clear()
    no = [do(f"b{i}", meet(4, at_most=0.2) >> fail(ValueError(f"no {i}"))) for i in range(4)]
    k = Saga("k", do("t", comp=OK), Parallel(*no))
    xs = [k.start() for _ in range(many)]
    work(4, patience=300)
    assert {end(x) for x in xs} == {UNWOUND} and calls("~t") == many
    assert all(error(x, r.name) in why(x) for x in xs for r in failed_steps(x))


def each(*nodes: Any, **options: Any) -> ForEach:
    return ForEach("line", ref("input.lines"), *nodes, **options)


def undone(name: str) -> Any:
    return do(name, ok(lambda line: line), comp=OK, needs_result=True, takes="line")


def test_c28_each_item_is_undone_by_itself() -> None:
    """Case C28. An item is finished before the next begins, and each is undone with its own item and result."""
    s = Saga("x", each(undone("p"), undone("q")), do("end", fail(ValueError)), input=Lines)
    x = run(s, lines=["A", "B", "C"])
    there = [f"line[{i}]/{n}" for i in range(3) for n in "pq"]
    assert end(x) == UNWOUND and paths() == [*there, "end", *(f"~{p}" for p in reversed(there))]
    for n in ("~p", "~q"):
        assert [(c["line"], c["result"]) for c in seen(n)] == [("C", "C"), ("B", "B"), ("A", "A")]


def test_c28_nothing_to_do() -> None:
    """Case C28. An empty list completes."""
    x = run(Saga("e", each(do("p", takes="line")), do("end"), input=Lines), lines=[])
    assert end(x) == DONE and order() == ["end"]


def test_c28_one_item_fails() -> None:
    """Case C28. The items before it are undone; itself too, unless it is known to have done nothing."""
    bad = do("p", per("line", {"B": [fail(OSError)]}), comp=OK, takes="line")
    x = run(Saga("f", each(bad), input=Lines), lines=["A", "B", "C"])
    assert end(x) == UNWOUND and paths() == ["line[0]/p", "line[1]/p", "~line[1]/p", "~line[0]/p"]
    refused = do("p", per("line", {"B": [reject()]}), comp=OK, takes="line")
    x = run(Saga("r", each(refused), input=Lines), lines=["A", "B", "C"])
    assert end(x) == UNWOUND and paths() == ["line[0]/p", "line[1]/p", "~line[0]/p"]


def test_c28_two_items_that_are_equal() -> None:
    """Case C28. They are two calls, with two keys."""
    x = run(Saga("g", each(do("p", takes="line")), input=Lines), lines=["A", "A"])
    assert end(x) == DONE and calls("p") == 2 and len(keys("p")) == 2


def test_c28_too_many_items() -> None:
    """Case C28. Refused before anything is started, saying how many there may be."""
    many = [str(i) for i in range(10_000)]
    with pytest.raises(SagaError) as caught:
        Saga("h", each(do("p", takes="line")), input=Lines).start(lines=many)
    assert "1000" in str(caught.value) and not Execution.objects.filter(saga="h").exists()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("many", [1000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_c28_ten_thousand_items(many: int) -> None:
    """Case C28. A long loop costs no more for each item than a short one. Driven here, where queries can be counted."""
    clear()
    s = Saga("i", each(do("p", takes="line"), max_items=10_000), input=Lines)
    x = s.start(lines=[str(i) for i in range(many)])
    with CaptureQueriesContext(connections[alias()]) as queries:
        queries.connection.queries_log = Counted()
        inline.run_until_idle()
        total = len(queries.connection.queries_log)
    assert end(x) == DONE and calls("p") == many and total / many <= 12


class Counted(list[Any]):
    """Counts what is appended, and keeps none of it."""

    count = 0

    def append(self, _: Any) -> None:
        self.count += 1

    def __len__(self) -> int:
        return self.count
