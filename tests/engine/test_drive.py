"""What one drive does from the first claim to the end: in which order, with which values, in how many statements."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from saga_app import Context, RetryLater, Saga, executor, ref, step
from tests import ledger
from tests.engine.drives import DATABASES, drive
from tests.harness import DONE, OK, UNWOUND, do, end, fail, ok, rec, records
from tests.script import Entry
from tests.settings import ENGINE
from tests.site.models import Question

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]


def test_forwards_in_order() -> None:
    """One step after the other, in one claim, each called once."""
    x = Saga("s", do("a"), do("b"), do("c")).start()
    assert executor.drive(x.pk, holder="host:1")
    assert end(x) == DONE and ledger.order() == ["a", "b", "c"]
    assert [(row.path, row.status, row.attempt, row.seq) for row in records(x)] == [
        ("a", "completed", 1, 0), ("b", "completed", 1, 1), ("c", "completed", 1, 2),
    ]  # fmt: skip


def test_backwards_in_reverse_order() -> None:
    """The failed one first, since its effect may have landed; all in the same claim."""
    x = Saga("s", do("a", comp=OK), do("b", comp=OK), do("c", fail(OSError), comp=OK)).start()
    assert executor.drive(x.pk, holder="host:1")
    assert end(x) == UNWOUND and ledger.order() == ["a", "b", "c", "~c", "~b", "~a"]


@pytest.mark.parametrize("atomic", [False, True])
def test_values_go_from_step_to_step(atomic: bool) -> None:
    """Input, outputs and context are filled in by name; what the saga returns is what its output says."""

    @step(provides="total")
    def price(qty: int) -> Decimal:
        return Decimal("1.50") * qty

    @step(atomic=atomic)
    def use(total: Decimal, qty: int, ctx: Context) -> list[Any]:
        return [total, qty, ctx.attempt, ctx.results["total"], ctx.input["qty"]]

    assert Saga("s", price, use, output=ref("use")).run(qty=3).output == [Decimal("4.50"), 3, 1, Decimal("4.50"), 3]


def test_an_atomic_step_and_its_record_are_one() -> None:
    """Promise P3. Where the body fails after its rows, neither they nor a completed record are there."""

    def half(_call: Any) -> None:
        Question.objects.create(title="half")
        raise OSError("then")

    x = drive(Saga("s", do("a", atomic=True, comp=OK), do("b", Entry(half), atomic=True, comp=OK)).start())
    assert end(x) == UNWOUND and ledger.order() == ["a", "b", "~a"]
    assert not Question.objects.exists() and rec(x, "b").may_have_happened is False


def three(kind: str) -> Saga[Any]:
    """Three steps without arguments, as bare as steps can be."""

    def made(name: str, **options: Any) -> Any:
        one = step(name=name, attempts=1, **options)(lambda: name)
        one.compensate(lambda: None)
        return one

    def fails() -> None:
        raise ValueError("c")

    if kind == "unwind":
        return Saga(kind, made("a"), made("b"), step(name="c", attempts=1)(fails))
    return Saga(kind, *[made(name, atomic=kind == "atomic") for name in "abc"])


LOOKS = 2 if ENGINE == "sqlite" else 0  # one without the write lock, one under it; PostgreSQL claims in one statement


@pytest.mark.parametrize(
    ("kind", "transactions", "statements"), [("external", 4, 13), ("atomic", 4, 12), ("unwind", 6, 20)]
)
def test_what_it_costs(kind: str, transactions: int, statements: int) -> None:
    """Three steps: claim and first intent, each outcome with what comes next, the last with the end.

    The numbers of statements are those of today, so that a change which adds one is seen.
    """
    x = three(kind).start()
    with CaptureQueriesContext(connection) as captured:
        assert executor.drive(x.pk, holder="host:1")
    said = [query["sql"] for query in captured]
    counted = [sql for sql in said if not sql.startswith(("BEGIN", "COMMIT"))]
    assert end(x) in (DONE, UNWOUND)
    assert (said.count("COMMIT"), len(counted)) == (transactions, statements + LOOKS), "\n".join(said)


def test_a_start_is_one_transaction() -> None:
    """An execution and the line of history that tells of it; the first one has kept the saga's shape."""
    saga = three("external")
    saga.start()
    with CaptureQueriesContext(connection) as captured:
        saga.start()
    said = [query["sql"].split(" ")[0] for query in captured]
    assert said.count("COMMIT") == 1
    assert [word for word in said if word not in ("BEGIN", "COMMIT")] == ["INSERT", "SELECT", "INSERT"]


def test_an_output_that_is_used_twice_is_read_as_it_was_returned() -> None:
    """What is kept is the stored text: what a body does to a value it was given touches nobody else."""
    changed: list[Any] = []

    def change(numbers: list[int]) -> None:
        numbers.append(3)
        changed.append(numbers)

    first = do("numbers", ok([1, 2]))
    x = Saga("s", first, step(name="b")(change), step(name="c")(change)).run()
    assert end(x) == DONE and changed == [[1, 2, 3], [1, 2, 3]] and rec(x, "numbers").output == [1, 2]


def test_an_idle_look_takes_two_statements_and_no_lock() -> None:
    """Where nothing is due, a drive asks once for executions and once for steps; on SQLite that takes no write lock."""
    with CaptureQueriesContext(connection) as captured:
        assert not executor.drive(None, holder="host:1")
    statements = [query["sql"] for query in captured.captured_queries]
    assert sum(not one.startswith(("BEGIN", "COMMIT")) for one in statements) == 2
    assert ENGINE == "postgres" or not any(one.startswith("BEGIN") for one in statements)


def test_an_async_body_may_ask_its_context() -> None:
    """Input, results, progress and cancel_requested work in a coroutine too, also after another claim has begun."""
    heard: list[Any] = []

    @step(attempts=2)
    async def asks(ctx: Context) -> None:
        ctx.progress(0.5, "half")
        heard.append((ctx.input["question"].title, ctx.results["first"], ctx.cancel_requested))
        if ctx.attempt == 1:
            raise RetryLater(60)

    question = Question.objects.create(title="why")
    x = Saga("s", do("first", ok(1)), asks, input=lambda question: None).start(question=question)
    drive(x)
    x.refresh_from_db()
    x.resume()
    assert end(drive(x)) == DONE
    assert heard == [("why", 1, False)] * 2 and rec(x, "asks").progress == 0.5
