"""Cases about values: what comes back equal, what is refused, and errors of every kind."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from tempfile import TemporaryFile
from threading import Lock
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.utils.translation import gettext_lazy

from saga_app import Saga, SagaError, UnsupportedValue, ref
from saga_app.models import Execution
from tests.acceptance.web import run_url, web
from tests.harness import (
    DONE,
    NOTHING_OWED,
    OK,
    UNWOUND,
    bytes_in_database,
    calls,
    do,
    end,
    error,
    fail,
    halted,
    now,
    ok,
    order,
    outcomes,
    rec,
    run,
    same,
    seen,
    why,
    work,
)
from tests.site.models import Question

MB = 1024 * 1024


def test_c04_values_come_back_equal_and_of_the_same_type() -> None:
    """Case C04. Money, dates and ids in step results."""
    v = {
        "p": Decimal("19.9900"),
        "big": Decimal("12345678901234567890.12"),
        "t": datetime(2024, 2, 29, 23, 59, 59, 999999, tzinfo=UTC),
        "naive": datetime(2024, 1, 1),  # noqa: DTZ001 - a value like any other
        "d": date(2024, 1, 1),
        "td": timedelta(days=-1, microseconds=1),
        "u": UUID(int=7),
        "n": None,
        "": 0,
        "f": 1.0,
        "b": True,
    }
    a = do("a", ok(v), provides="v", comp=OK, needs_result=True)
    x = run(Saga("x", a, do("b", fail(OSError), ok(), takes="v", attempts=2), do("c", fail(ValueError))))
    assert end(x) == UNWOUND and order() == ["a", "b", "b", "c", "~a"] and outcomes(x) == {"a": "compensated"}
    assert all(same(call["v"], v) for call in seen("b")) and same(seen("~a")[0]["result"], v)


def test_c31_a_model_instance_is_a_reference() -> None:
    """Case C31. Model instances as arguments."""
    edit = do("edit", ok(lambda q: q.title), takes="q")
    q = Question.objects.create(title="old", pk=uuid4())
    x = Saga("s", edit).start(q=q)
    Question.objects.filter(pk=q.pk).update(title="new")
    work()
    assert end(x) == DONE and rec(x, "edit").output == "new"
    x = Saga("s", edit).start(q=q)
    q.delete()
    work()
    assert now(x).status in {"failed", "stuck"} and "Question" in why(x) and calls("edit") == 1
    with pytest.raises(UnsupportedValue) as e:
        Saga("s", edit).start(q=Question(title="unsaved"))
    assert "q" in e.value.path and "q" in str(e.value)
    q = Question.objects.create(title="as a result", pk=uuid4())
    x = run(Saga("r", do("a", ok(lambda: Question.objects.get(pk=q.pk)), provides="q"), edit))
    assert end(x) == DONE and rec(x, "edit").output == "as a result"


def unsupported() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    file = TemporaryFile()  # noqa: SIM115 - it is to be open
    values = [float("nan"), float("-inf"), lambda: 1, file, Lock(), object(), (i for i in []), loop]
    return [*values, gettext_lazy("Hello")]


@pytest.mark.parametrize("v", unsupported(), ids=lambda v: type(v).__name__)
def test_c32_what_is_no_value_is_refused(v: Any) -> None:
    """Case C32. Values that are not JSON: NaN, functions, open files."""
    with pytest.raises(UnsupportedValue) as e:
        Saga("s", do("a", takes="deep")).start(deep=[{"x": v}])
    assert "deep" in str(e.value) and not Execution.objects.filter(saga="s").exists()
    x = run(Saga("x", do("a", ok({"deep": [v]}), comp=OK, attempts=3), do("b")))
    assert end(x) == UNWOUND and order() == ["a", "~a"]
    assert outcomes(x) == {"a": "compensated"} and "deep" in error(x, "a")


def test_c32_an_output_that_is_refused_is_no_result() -> None:
    """Case C32. A compensation that needs the result is not called without one."""
    a = do("a", ok(float("nan")), comp=OK, needs_result=True, attempts=3)
    x = run(Saga("x", do("t", comp=OK), a))
    assert end(x) == halted("outcome_unknown") and order() == ["t", "a"] and outcomes(x) == {"t": "", "a": ""}


class NeedsTwoArgs(Exception):
    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class StrRaises(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class ReprRaises(Exception):
    def __repr__(self) -> str:
        raise RuntimeError("no text")


def chained() -> Exception:
    try:
        try:
            raise KeyError("first")
        except KeyError as first:
            raise OSError("second") from first
    except OSError as second:
        return second


ODD = [
    NeedsTwoArgs("m", 2),
    StrRaises(),
    ReprRaises(),
    ExceptionGroup("g", [ValueError("inner")]),
    chained(),
    UnicodeDecodeError("utf8", b"\xff", 0, 1, "x"),
]


@pytest.mark.parametrize("e", ODD, ids=lambda e: type(e).__name__)
def test_c32_any_exception_is_kept(e: Exception) -> None:
    """Case C32. Odd exceptions."""
    x = run(Saga("y", do("t", comp=OK), do("a", fail(e))))
    assert end(x) == UNWOUND and order() == ["t", "a", "~t"]
    assert type(e).__name__ in error(x, "a") and now(x).deaths == 0


@pytest.mark.parametrize("bad", ["a\x00b", "\x00", "x" * 9_000 + "\x00"], ids=["inside", "alone", "behind"])
def test_c34_a_nul_is_a_character_like_any_other(bad: str) -> None:
    """Case C34. A NUL byte in an error text or a result."""
    x = run(Saga("x", do("t", comp=OK), do("a", fail(ValueError(bad)))))
    assert end(x) == UNWOUND and order() == ["t", "a", "~t"] and "ValueError" in error(x, "a")
    assert web().get(run_url(x)).status_code == 200
    v = {"k" + bad: [bad]}
    x = run(Saga("y", do("a", ok(v), provides="v"), do("b", takes="v")))
    assert end(x) == DONE and seen("b")[0]["v"] == v and web().get(run_url(x)).status_code == 200


def test_c34_so_is_any_other() -> None:
    """Case C34. Scripts, emoji, direction marks, combining letters; a key cannot hold a NUL and says so."""
    u = "Ünïcødé 漢字 🏳️‍🌈 \u202e \u2028 e\u0301"
    x = Saga("e", do("a", ok(lambda v: v), takes="v"), output=ref("a")).start(v={u: u}, key=u)
    work()
    assert end(x) == DONE and now(x).output == {u: u} and Execution.objects.get(key=u).pk == x.pk
    assert web().get(run_url(x)).status_code == 200
    with pytest.raises(SagaError):
        Saga("e", do("a", takes="v")).start(v=1, key="a\x00b")


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def test_c35_a_value_has_a_limit() -> None:
    """Case C35. A step returns far too much."""
    big, cut = "x" * 30 * MB, 200_000
    x = run(Saga("x", do("t", comp=OK), do("a", ok(big), comp=OK, attempts=3)))
    assert end(x) == UNWOUND and order() == ["t", "a", "~a", "~t"]
    assert len(error(x, "a")) < 5_000 and bytes_in_database(x) < cut
    x = run(Saga("y", do("a", fail(ValueError(big)))))
    assert end(x) == NOTHING_OWED and "ValueError" in error(x, "a") and bytes_in_database(x) < cut
    with pytest.raises(UnsupportedValue):
        Saga("s", do("a", takes="v")).start(v=big)
    x = run(Saga("n", do("a", ok(nested(depth=5_000)), comp=OK)))
    assert end(x) in {DONE, UNWOUND} and calls("a") == 1 and now(x).deaths == 0


def test_c35_large_values_add_up() -> None:
    """Case C35. 200 steps whose outputs are each just below the limit."""
    x = run(Saga("z", *[do(f"s{i}", ok("x" * 900_000)) for i in range(200)]))
    assert end(x) == DONE and len(order()) == 200
