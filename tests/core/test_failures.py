"""Any exception becomes bounded, readable text; recording a failure never fails (P11)."""

from __future__ import annotations

import sys
import tracemalloc

import pytest
from hypothesis import given

from saga_app.core.failures import MAX_LINE, ErrorInfo, describe, fingerprint
from tests.core.hostile import (
    Declined,
    NeedsTwoArgs,
    ReprRaises,
    SaysOddText,
    Silent,
    StrIsNone,
    StrRaises,
    StrStops,
    check,
    errors,
    raised,
)

MB = 1024 * 1024


@given(errors())
def test_describing_never_fails(error: BaseException) -> None:
    """P11: whatever the exception does when it is asked, it is stored as readable text. Case C32, Case C34."""
    check(error)


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (NeedsTwoArgs("m", 2), "m (2)"),
        (StrRaises("order", 7), "(str() raised RuntimeError) StrRaises('order', 7)"),
        (StrStops("order", 7), "(str() raised SystemExit) StrStops('order', 7)"),
        (StrStops(Silent()), "(str() raised SystemExit)"),
        (StrIsNone("x"), "(str() raised TypeError) StrIsNone('x')"),
        (ReprRaises("x"), "x"),
        (SaysOddText(), "odd"),
        (ValueError(Silent()), "(str() raised KeyboardInterrupt)"),
        (Exception({"code": 5}), "{'code': 5}"),
        (UnicodeDecodeError("utf8", b"\xff", 0, 1, "x"), "'utf8' codec can't decode byte 0xff in position 0: x"),
        (ValueError("a\x00b"), "a\\x00b"),
        (ValueError("\ud800 \x1b[31m\r\x85"), "\\ud800 \\x1b[31m\\r\\x85"),
        (ValueError("Ünïcødé 漢字 🏳️\n\ttwo"), "Ünïcødé 漢字 🏳️\n\ttwo"),
        (ValueError(), ""),
    ],
)
def test_the_message(error: BaseException, says: str) -> None:
    """What the exception says is kept; when it cannot speak, what it was made of. Case C32, Case C34, Hazard A10."""
    assert check(error).message == says


def test_types_are_named_with_their_module() -> None:
    """A built-in class by its name, any other by the module it comes from."""
    assert describe(ValueError()).type == "ValueError"
    assert describe(Declined()).type == "tests.core.hostile.Declined"
    assert describe(Declined("no\n  funds")).text == "Declined: no funds"
    assert describe(Declined()).text == "Declined"


def test_ten_megabytes_of_text() -> None:
    """A huge message is cut and says how long it was; no copy is worked through. Case C35."""
    error = raised(ValueError("x" * 1_900 + "\x00" * 10 * MB))
    tracemalloc.start()
    try:
        info = check(error)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert info.message.startswith("xxx")
    assert "10,487,660 characters" in info.message
    assert peak < 2 * MB
    hostile = check(ValueError("x" * 1_500 + "\x00" * 9_000)).message
    assert "x\\x00" in hostile
    assert "10,500 characters" in hostile
    assert "1,000 characters" in check(ValueError("\x00" * 1_000)).message


def test_text_that_is_no_description() -> None:
    """A damaged row still shows something: its text is the message."""
    for text in ["", "{", "[]", "null", "7", '{"message":"no type"}', "[" * 100_000, "a\x00"]:
        info = ErrorInfo.from_json(text)
        assert info.text.encode() == info.message[:MAX_LINE].encode() or len(text) > MAX_LINE
    assert ErrorInfo.from_json('{"type":"ValueError","later":1}') == ErrorInfo("ValueError")


def charge(text: str) -> ErrorInfo:
    return describe(raised(Declined(text)))


def mark(info: ErrorInfo, path: str = "line[3]/charge", direction: str = "forward", saga: str = "order") -> str:
    return fingerprint(saga, path, direction, info)


def test_one_cause_has_one_fingerprint() -> None:
    """Numbers, ids and addresses differ from order to order, the cause does not."""
    texts = [
        "order 7 (550e8400-e29b-41d4-a716-446655440000) at 0x7f3a: ch_1Kx92Z, sum 19.90, digest deadbeefcafe",
        "order 1234 (650e8400-e29b-41d4-a716-44665544ffff) at 0xdead: ch_9aaa, sum 1,200.5, digest feedfacebeef",
    ]
    assert len({mark(charge(text), path) for text in texts for path in ["line[3]/charge", "line[14]/charge"]}) == 1
    assert len(mark(charge("x"))) == 16
    assert set(mark(charge("x"))) <= set("0123456789abcdef")


def test_other_causes_have_other_fingerprints() -> None:
    """Another class, text, place, step, direction or saga is another cause."""

    def elsewhere() -> ErrorInfo:
        try:
            raise Declined("x")
        except Declined as error:
            return describe(error)

    marks = [
        mark(charge("x")),
        mark(charge("y")),
        mark(elsewhere()),
        mark(describe(raised(ValueError("x")))),
        mark(charge("x"), path="line[3]/refund"),
        mark(charge("x"), direction="compensate"),
        mark(charge("x"), saga="return"),
    ]
    assert len(set(marks)) == len(marks)


def test_the_core_needs_no_django() -> None:
    """A failure can be described before Django is set up, and without it."""
    import subprocess

    code = "import sys; from saga_app.core import failures; assert not any(m.startswith('django') for m in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
