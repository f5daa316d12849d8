"""What a name means while it runs: items, turns, results of loops, and the way that was taken."""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext

from saga_app import Context, GiveUp, Saga, codec, executor, ref, step
from saga_app.core.nodes import Branch, Child, Compute, ForEach, If, Parallel, Repeat, Try, While
from saga_app.core.records import Records
from saga_app.core.snapshot import Record, Snapshot
from saga_app.core.status import TERMINAL
from saga_app.store.claims import Claim
from saga_app.store.rows import load_records
from saga_app.store.transactions import alias
from saga_app.values import Values
from tests.engine.codec_values import Mood
from tests.engine.drives import DATABASES, drive
from tests.harness import DONE, UNWOUND, do, end, fail, now, rec

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]


def ran(*nodes: Any, output: str | None = None, **values: Any) -> Any:
    """Started and driven to its end."""
    return drive(Saga("s", *nodes, output=ref(output) if output else None).start(**values))


@step
def pack(line: dict[str, Any], iteration: int, ctx: Context) -> list[Any]:
    return [line["sku"], iteration, ctx.index, ctx.path]


@step
def price(line: dict[str, Any]) -> int:
    return len(line["sku"])


LINES = [{"sku": "A"}, {"sku": "BB"}, {"sku": "CCC"}]


@pytest.mark.parametrize("concurrency", [1, 2])
def test_each_item_is_seen_in_its_turn(concurrency: int) -> None:
    """Design §3. The item by the loop's name, which turn it is; afterwards the results, in the order of the items."""
    x = ran(ForEach("line", ref("input.lines"), pack, concurrency=concurrency), output="line", lines=LINES)
    assert end(x) == DONE
    assert x.output == [[one["sku"], at, at, f"line[{at}]/pack"] for at, one in enumerate(LINES)]


def test_an_empty_list() -> None:
    """It comes to an empty list."""
    assert ran(ForEach("line", ref("input.lines"), pack), output="line", lines=[]).output == []


def test_loops_in_loops() -> None:
    """The inner item and the outer one; the results are lists of lists. What a body provides is this item's."""
    together = Compute("together", lambda order, line, iteration, before: [order["id"], line, iteration, before])
    orders = [{"id": 1, "lines": ["a", "b"]}, {"id": 2, "lines": []}, {"id": 3, "lines": ["c"]}]
    before = Compute("before", lambda order: order["id"] * 10)
    inner = ForEach("line", ref("order.lines"), together)
    x = ran(ForEach("order", ref("input.orders"), before, inner), output="order", orders=orders)
    assert x.output == [[[1, "a", 0, 10], [1, "b", 1, 10]], [], [[3, "c", 0, 30]]]


def test_a_turn_that_comes_to_nothing() -> None:
    """None, where the last node of its body has nothing for it."""
    odd = If(lambda line: len(line["sku"]) % 2 == 1, price).named("odd")
    assert ran(ForEach("line", ref("input.lines"), odd), output="line", lines=LINES).output == [1, None, 3]


def test_whichever_way_was_taken() -> None:
    """One name of several providers is what the one on the way taken gave."""
    pay = Branch(lambda method: method, card=Compute("charge", lambda: "by card", provides="paid"),
                 bill=Compute("send", lambda: "by bill", provides="paid")).named("pay")  # fmt: skip
    say = Compute("say", lambda paid: f"paid {paid}")
    assert ran(pay, say, output="say", method="card").output == "paid by card"
    assert ran(pay, say, output="say", method="bill").output == "paid by bill"


def test_turns_see_the_one_before() -> None:
    """In a Repeat, what the last turn provided; after it, too."""
    count = Compute("count", lambda count_so_far=0: count_so_far + 1, provides="count_so_far")
    x = ran(Repeat(count, until=lambda count_so_far: count_so_far == 4).named("till"), output="count_so_far")
    assert (end(x), x.output) == (DONE, 4)


def test_a_while_that_never_turns() -> None:
    """A maybe falls back to its default."""
    loop = While(lambda: False, Compute("a", lambda: 1)).named("loop")
    assert ran(loop, Compute("b", lambda a=None: [a]), output="b").output == [None]


def test_a_loop_that_a_try_goes_on_without() -> None:
    """It has no results, though two of its turns have: a name exists behind its node."""
    count = step(name="count")(fails_at_the_third)
    after = Compute("after", lambda line=None: [line])
    tried = Try(ForEach("line", ref("input.lines"), count), recover=Compute("instead", lambda line=None: [line]))
    x = ran(tried, after, output="after", lines=LINES)
    assert (end(x), rec(x, "instead").output, x.output) == (DONE, [None], [None])


def fails_at_the_third(line: dict[str, Any]) -> int:
    if line["sku"] == "CCC":
        raise GiveUp("no")
    return 1


def test_a_compensation_sees_what_its_call_saw() -> None:
    """Its own item and what was provided in its own turn, however many turns came after."""
    seen: list[Any] = []

    @step
    def book(line: dict[str, Any], before: int) -> None: ...

    @book.compensate
    def cancel(line: dict[str, Any], before: int, iteration: int, again: int) -> None:
        seen.append((line["sku"], before, iteration, again))

    before = Compute("before", lambda iteration: iteration * 10)
    once_more = Compute("again_too", lambda before: before + 1, provides="again")
    x = ran(ForEach("line", ref("input.lines"), before, once_more, book), do("fails", fail(GiveUp("no"))), lines=LINES)
    assert end(x) == UNWOUND
    assert seen == [("CCC", 20, 2, 21), ("BB", 10, 1, 11), ("A", 0, 0, 1)]


def test_results_by_name() -> None:
    """`ctx.results` has what is there at this place: this turn's, no list of a loop that is not over, all before."""
    seen: list[Any] = []

    @step
    def look(ctx: Context) -> None:
        seen.append(dict(ctx.results))

    group = Parallel(Compute("left", lambda: 1), right=[Compute("more", lambda: 2)])
    ran(group, ForEach("line", ref("input.lines"), price, look), look.named("after"), lines=LINES[:2])
    both = {"left": 1, "more": 2}
    assert seen == [both | {"price": 1}, both | {"price": 2}, both | {"line": [None, None]}]


def test_the_values_of_a_child() -> None:
    """Its input follows the rule; what it returns is what it provides."""
    kid = Saga("kid", Compute("double", lambda n: n * 2), output=ref("double"))
    each = ForEach("number", ref("input.numbers"), Child(kid).bind(n=ref("number")))
    x = ran(each, output="number", numbers=[1, 2])
    for _ in range(6):
        for one in type(x).objects.filter(status__in=["pending", "waiting"]):
            drive(one)
    assert (end(now(x)), now(x).output) == (DONE, [2, 4])


def test_results_that_another_drive_left() -> None:
    """They are read from the table, in few queries however many there are."""
    saga = Saga("s", ForEach("line", ref("input.lines"), price, pack), output=ref("line"))
    x = saga.start(lines=LINES)
    while now(x).status not in TERMINAL:
        executor.drive(x.pk, holder="host:1", go_on=lambda: False)
    assert now(x).output == [[one["sku"], at, at, f"line[{at}]/pack"] for at, one in enumerate(LINES)]
    seen = values(saga, load_records(x.pk, alias()), "{}", x.pk)
    with CaptureQueriesContext(connections[alias()]) as queries:
        assert seen.at("").output(("line",)) == now(x).output
        assert seen.at("line[1]/pack").item("line") == LINES[1]
    assert len([one for one in queries if "saga_app_steprecord" in one["sql"]]) == 2  # the results, and the items


def test_which_arguments_may_be_made_under_a_lock() -> None:
    """Those whose making decodes nothing of the project's: of a list one item, of a loop all that its turns came to."""
    inner = ForEach("line", ref("input.lines"), Compute("weigh", lambda line: line))
    saga = Saga("s", ForEach("order", ref("input.orders"), inner), Compute("sum", lambda order: order))
    plain, live = codec.encode(1), codec.encode(Mood.CALM)
    both = codec.encode([1, Mood.CALM])
    stored = [Record(seq=0, path="order", name="order", choice="2", output_text="[1,2]")]
    for at, outputs in enumerate(([plain, plain], [plain, live])):
        stored.append(Record(seq=len(stored), path=f"order[{at}]/line", name="line", choice="2", output_text=both))
        for turn, text in enumerate(outputs):
            path = f"order[{at}]/line[{turn}]/weigh"
            stored.append(Record(seq=len(stored), path=path, name="weigh", output_text=text))
    seen = values(saga, stored, "{}", uuid4())
    weigh, collect = saga.call("weigh"), saga.call("sum")
    assert seen.at("order[0]/line[0]/weigh").inert(weigh) and not seen.at("order[0]/line[1]/weigh").inert(weigh)
    assert seen.at("sum").output(("order",)) == [[1, 1], [1, Mood.CALM]]
    assert not seen.at("sum").inert(collect)
    assert values(saga, stored[:4], "{}", uuid4()).at("sum").inert(collect)
    assert values(saga, [], "{}", uuid4()).at("sum").inert(collect)


# Speed

MANY = 10_000


def values(saga: Saga[Any], records: Iterable[Record], text: str, execution_id: UUID) -> Values:
    claim = Claim(
        execution_id=execution_id, using=alias(), epoch=1, holder="host:1", now=datetime.now(tz=UTC), at=0,
        lease_ends=0, stored_input=text, writes=0, seen=0,
    )  # fmt: skip
    return Values(claim, Snapshot(saga=saga.name, revision=1, records=Records(records)))


def test_ten_thousand_items() -> None:
    """Each turn reads its item and what was provided in it; the list is parsed once, and collected at the end."""
    saga = Saga("s", ForEach("line", ref("input.lines"), price, pack, max_items=MANY), output=ref("line"))
    lines = [{"sku": f"SKU-{each}", "text": "x" * 60} for each in range(MANY)]
    text = codec.encode(lines)
    records = [Record(seq=0, path="line", name="line", choice=str(MANY), output_text=text)]
    for at in range(MANY):
        for name in ("price", "pack"):
            records.append(Record(seq=len(records), path=f"line[{at}]/{name}", name=name, output_text=str(at)))
    seen = values(saga, records, codec.encode({"lines": lines}), uuid4())
    began = time.perf_counter()
    for at in range(MANY):
        here = seen.at(f"line[{at}]/pack")
        assert here.inert(saga.call("pack")) and here.inert(saga.call("price"))
        assert here.item("line")["sku"] == f"SKU-{at}"
        assert here.output(("price",)) == at
    assert seen.at("").output(("line",)) == list(range(MANY))
    assert time.perf_counter() - began < 30, "each item takes its own time, not that of the list"
