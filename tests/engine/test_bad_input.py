"""Bad input: what cannot be started is refused with a clear error, and whatever a body does is recorded."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from django.db import transaction

from saga_app import (
    Context,
    GiveUp,
    Happened,
    InputError,
    KeyConflict,
    Rejected,
    RetryLater,
    Saga,
    SagaError,
    UnknownSaga,
    UnsupportedValue,
    engine,
    step,
)
from saga_app.models import Event, Execution, StepRecord
from tests.core.hostile import HOSTILE, Closed, StrRaises
from tests.engine.drives import DATABASES, dies, drive, killed, refusing, writes_to
from tests.engine.standing import begun, stuck_backwards, waiting
from tests.harness import DONE, OK, UNWOUND, calls, do, end, error, fail, halted, now, ok, rec, records, rows_of
from tests.site.models import Order, Tag

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]

HUGE = "x" * 10_000_000
BAD_TEXTS = ["a\x00b", "\ud800 and \udfff", HUGE, "\x00\ud800" * 5_000]


@dataclass
class Place:
    sku: str
    quantity: int
    price: Decimal = Decimal(1)
    notes: list[str] = field(default_factory=list)


@step
def read(sku: str, quantity: int) -> str:
    return f"{quantity} {sku}"


def typed() -> Saga[Place]:
    return Saga("typed", read, input=Place)


def loose() -> Saga[Any]:
    return Saga("loose", read)


BAD: list[tuple[Any, dict[str, Any], set[str]]] = [
    (typed, {}, {"sku", "quantity"}),
    (typed, {"sku": "A1"}, {"quantity"}),
    (typed, {"sku": 1, "quantity": "two", "qauntity": 3}, {"sku", "quantity", "qauntity"}),
    (typed, {"sku": "A1", "quantity": True}, {"quantity"}),
    (typed, {"sku": "A1", "quantity": 1, "price": 1.5, "notes": [1]}, {"price", "notes"}),
    (loose, {"sku": "A1"}, {"quantity"}),
    (loose, {"sku": "A1", "quantity": 2, "key_": 1}, {"key_"}),
    (loose, {"sku": None, "quantity": "two"}, {"sku", "quantity"}),
]


@pytest.mark.parametrize(("make", "values", "named"), BAD)
def test_an_input_that_does_not_fit(make: Any, values: dict[str, Any], named: set[str]) -> None:
    """Each field is named with what is wrong, all at once; no row is there, and the caller's transaction goes on."""
    with transaction.atomic():
        with pytest.raises(InputError) as refused:
            make().start(values)
        Order.objects.create()
    assert set(refused.value.errors) == named
    assert all(name in str(refused.value) for name in named)
    assert Order.objects.count() == 1 and not Execution.objects.exists() and not Event.objects.exists()


@pytest.mark.parametrize("whole", [7, "sku", ["A1", 2], object(), Order()])
def test_an_input_of_another_kind(whole: Any) -> None:
    """It says what it must be."""
    for saga in (typed(), loose()):
        with pytest.raises(InputError, match=r"must be (Place|a mapping)"):
            saga.start(whole)
    with pytest.raises(InputError, match="the one or the other"):
        typed().start(Place("A1", 2), sku="A2")
    assert not Execution.objects.exists()


def test_an_input_that_cannot_be_stored(settings: Any) -> None:
    """Promise P10. Too large, or nothing that comes back equal: refused with its path, before anything ran."""
    saga = Saga("s", do("a", takes="deep"))
    settings.SAGA = {"MAX_VALUE_BYTES": 1_000}
    for value, said in [("x" * 2_000, "1,?000"), ({"in": [object()]}, r"deep.*in"), (float("nan"), "deep")]:
        with transaction.atomic():
            with pytest.raises(UnsupportedValue, match=said):
                saga.start(deep=value)
            Order.objects.create()
    assert Order.objects.count() == 3 and not Execution.objects.exists()


def test_no_such_saga() -> None:
    """The nearest name is said."""
    loose()
    with pytest.raises(UnknownSaga, match="loose"):
        engine.start("losse")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *[("key", bad) for bad in ("", "k" * 256, "a\x00b", "\ud800", 7, b"k")],
        *[("priority", bad) for bad in (40_000, -40_000, "high", 1.5, True, None)],
        *[("due", bad) for bad in ("tomorrow", datetime(2026, 5, 1), 5)],  # noqa: DTZ001
    ],
)
def test_options_that_the_table_cannot_hold(option: str, value: Any) -> None:
    """Refused before the database is asked: its error would break the transaction of the caller."""
    saga = Saga("s", do("a"))
    with transaction.atomic():
        with pytest.raises(InputError) as refused:
            engine.start(saga, **{option: value})
        Order.objects.create()
    assert set(refused.value.errors) == {option}
    assert Order.objects.count() == 1 and not Execution.objects.exists()
    assert saga.using(priority=-32767, due=datetime(2026, 5, 1, tzinfo=UTC)).start(key="k" * 255).is_new


def test_one_key_and_another_input() -> None:
    """The paths that differ are named; the first stays as it is, and the transaction goes on."""
    saga = Saga("s", do("a", takes="order"))
    x = saga.start(order={"id": 1, "lines": [1, 2]}, key="k")
    before = rows_of(x), Event.objects.count()
    with transaction.atomic():
        with pytest.raises(KeyConflict) as conflict:
            saga.start(order={"id": 1, "lines": [1, 3], "extra": True}, key="k")
        Order.objects.create()
    assert "different in order.lines[1], order.extra. Use" in str(conflict.value)
    assert conflict.value.key == "k" and conflict.value.paths == ("order.lines[1]", "order.extra")
    assert (rows_of(x), Event.objects.count(), Order.objects.count()) == (before[0], before[1], 1)
    same = saga.start(order={"lines": [1, 2], "id": 1}, key="k")
    assert (same.pk, same.is_new) == (x.pk, False)


WHERE = ["body", "atomic body", "compensation", "atomic compensation", "reconcile", "binding"]


def raising(where: str, error: BaseException) -> Execution:
    """An execution in which that is raised in that place, driven until it parks or ends."""

    def bad() -> None:
        raise error

    match where:
        case "body" | "atomic body":
            return begun(do("z", comp=OK), step(name="a", attempts=1, atomic=where[0] == "a")(bad))
        case "compensation" | "atomic compensation":
            a = step(name="a")(lambda: None)
            a.compensate(attempts=1, atomic=where[0] == "a")(bad)
            return begun(do("z", comp=OK), a, do("b", fail(OSError)))
        case "reconcile":
            a = do("a", dies(), comp=OK)
            a.reconcile(bad)
            x = Saga("s", do("z", comp=OK), a).start()
            killed(x)
            return drive(x)
    return begun(do("z", comp=OK), do("a", takes="v").bind(v=bad))


@pytest.mark.parametrize("where", WHERE)
def test_whatever_is_raised_anywhere(where: str) -> None:
    """Promise P11. Any exception, of any text, that raises when it is asked: stored readable, and nothing hangs."""
    errors = [kind(text) for kind in (ValueError, GiveUp, Rejected) for text in BAD_TEXTS]
    errors += [kind("a\x00\ud800") for kind in HOSTILE if kind is not Closed]  # a with block cannot pass that one on
    errors += [ExceptionGroup("g\x00", [StrRaises(), ValueError(HUGE)]), BaseException(HUGE)]
    for raised in errors:
        x = raising(where, raised)
        backwards = "compensation" in where
        assert end(x) == (halted("compensation_failed") if backwards else UNWOUND), raised.__class__
        assert now(x).lease_holder is None and now(x).deaths == 0
        if where != "reconcile":
            told = rec(x, "a").compensation_error if backwards else rec(x, "a").error
            assert told.type.endswith(type(raised).__qualname__) and len(told.message) < 3_000
        assert sum(len(one.attempts_text) + len(one.error_text or "") for one in records(x)) < 50_000


@pytest.mark.parametrize("raised", [SystemExit(0), KeyboardInterrupt(), GeneratorExit()])
@pytest.mark.parametrize("where", WHERE)
def test_the_worker_survives(where: str, raised: BaseException) -> None:
    """Neither sys.exit() nor Ctrl-C from user code ends the process that drives: they are failures like any other."""
    x = raising(where, raised)
    assert end(x)[0] in ("failed", "stuck")
    assert end(begun(do("next"))) == DONE


def test_an_output_that_cannot_be_stored() -> None:
    """Promise P10. The step failed at once, known to have happened: not called again, and owed. Atomic: rolled back."""
    for value in (object(), float("nan"), HUGE, {1: {2: lambda: 1}}):
        x = begun(do("a", ok(value), comp=OK, attempts=3))
        assert end(x) == UNWOUND and rec(x, "a").attempt == 1
        assert "UnsupportedValue" in error(x, "a") and len(error(x, "a")) < 3_000

    @step(atomic=True, attempts=3)
    def tag() -> Any:
        Tag.objects.create(name="one")
        return object()

    x = begun(tag)
    assert end(x) == ("failed", "not_applicable", "") and not Tag.objects.exists()
    assert rec(x, "tag").attempt == 1


def test_a_reconcile_that_answers_nonsense() -> None:
    """What is no answer, or cannot be stored, is none: unknown."""
    for answer in (7, "yes", Happened, Happened(object()), True):
        x = Saga("s", do("a", dies(), ok(1), attempts=2, find=ok(answer) if answer is not Happened else answer)).start()
        killed(x)
        assert end(drive(x)) == DONE and rec(x, "a").attempt == 2 and calls("?a") > 0


def test_a_body_that_returns_what_nobody_awaited() -> None:
    """An awaitable is awaited; a generator is no value, and says so."""

    async def later() -> int:
        return 5

    x = begun(step(name="a")(lambda: later()))  # noqa: PLW0108 - not a coroutine function, and yet it returns one
    assert rec(x, "a").output == 5
    assert "generator" in error(begun(do("b", ok(lambda: (n for n in [1])))), "b")


def test_a_delay_that_is_none() -> None:
    """RetryLater("soon") is an error of the body's, told as such."""

    @step(attempts=1)
    def a() -> None:
        raise RetryLater("soon")  # type: ignore[arg-type]

    assert "could not convert string to float" in error(begun(a), "a")


@pytest.mark.parametrize("text", [*BAD_TEXTS, ""])
@pytest.mark.parametrize("atomic", [False, True])
def test_progress_never_fails(text: str, atomic: bool) -> None:
    """Whatever a body tells of its progress, it is no reason to fail."""

    @step(attempts=1, atomic=atomic)
    def a(ctx: Context) -> None:
        for fraction in (-1, 0.5, float("nan"), float("inf")):
            ctx.progress(fraction, text)
        ctx.progress(1, text)

    x = begun(a)
    assert end(x) == DONE, error(x, "a")
    assert len(StepRecord.objects.get().progress_text) <= 255


def test_progress_that_the_database_refuses() -> None:
    """The same: it is for people who watch, and nobody watches a database that is away."""

    @step(attempts=1)
    def a(ctx: Context) -> None:
        with refusing(writes_to("steprecord")):
            ctx.progress(1, "done")

    assert end(begun(a)) == DONE


@pytest.mark.parametrize("text", BAD_TEXTS)
def test_a_reason_of_any_text(text: str) -> None:
    """What an operator writes is kept, readable, whatever it holds."""
    x, y = stuck_backwards(), waiting()
    assert x.resolve("b", reason=text).status == "compensating"
    y.suspend(reason=text)
    assert (
        y.cancel(reason=text).cancel_reason.replace("\\x00", "")[:1]
        == text.replace("\x00", "").encode("utf-8", "backslashreplace").decode()[:1]
    )
    drive(y)


def test_every_error_is_one_tree() -> None:
    """All of it can be caught as SagaError."""
    for error_class in (InputError, KeyConflict, UnknownSaga, UnsupportedValue):
        assert issubclass(error_class, SagaError)
