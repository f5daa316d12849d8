"""Causes, contexts, groups, frames and notes of an exception, however many there are."""

from __future__ import annotations

import json
from typing import Any

import pytest

from saga_app.core.failures import describe
from saga_app.core.tracebacks import MAX_CHAIN, MAX_NOTES
from tests.core.hostile import (
    Declined,
    check,
    raised,
)


def chained() -> BaseException:
    try:
        try:
            {}["sku"]
        except KeyError as error:
            raise LookupError("no such sku") from error
    except LookupError:
        return raised(Declined("no funds"))


def test_the_chain_is_told() -> None:
    """Causes and contexts stand in the traceback as Python prints them, the first cause first. Case C32."""
    text = check(chained()).traceback
    parts = ["KeyError: 'sku'", "direct cause", "LookupError: no such sku", "During handling", "Declined: no funds"]
    assert [part for part in parts if part in text] == parts
    assert sorted(parts, key=text.index) == parts
    suppressed = raised(ValueError("only this"))
    suppressed.__context__, suppressed.__suppress_context__ = KeyError("hidden"), True
    assert "hidden" not in check(suppressed).traceback


def test_a_circle_of_causes() -> None:
    """Each exception of a circle is shown once."""
    a, b = raised(ValueError("a")), raised(TypeError("b"))
    a.__cause__, b.__cause__ = b, a
    text = check(a).traceback
    assert (text.count("ValueError: a"), text.count("TypeError: b")) == (1, 1)
    member = raised(ValueError("inner"))
    group = raised(ExceptionGroup("outer", [member]))  # type: ignore[list-item]
    member.__cause__ = group
    text = check(group).traceback
    assert (text.count("ValueError: inner"), text.count("ExceptionGroup: outer")) == (1, 1)


@pytest.mark.parametrize("count", [100, MAX_CHAIN + 500])
def test_an_endless_chain(count: int) -> None:
    """The exception that was raised and where it began are shown, the middle is counted."""
    error: BaseException = ValueError("the beginning")
    for number in range(count):
        later = ValueError(f"number {number}")
        later.__context__ = error
        error = later
    text = check(error).traceback
    assert f"number {count - 1}" in text
    assert "are left out" in text
    assert ("the beginning" in text) == (count < MAX_CHAIN)


def test_groups() -> None:
    """Every cause of a group is named, counted and joined; a single failure reads as itself. Hazard A11, Case C32."""
    inner = ExceptionGroup("in", [TypeError("t")])
    info = check(raised(ExceptionGroup("g", [ValueError("inner"), OSError("disk"), inner])))
    assert info.text == "ExceptionGroup: g (3 sub-exceptions): ValueError: inner; OSError: disk; TypeError: t"
    for part in ["ValueError: inner", "OSError: disk", "TypeError: t", "[3 of 3]"]:
        assert part in info.traceback
    wide = check(ExceptionGroup("wide", [ValueError(str(number)) for number in range(10_000)]))
    assert "9,990 more" in wide.message
    assert "are left out" in wide.traceback
    deep: Exception = ValueError("the leaf")
    for _ in range(5_000):
        deep = ExceptionGroup("deep", [deep])
    info = check(deep)
    assert "the leaf" in info.message
    assert info.traceback.count("[1 of 1]") > 10


def test_a_huge_traceback() -> None:
    """Its head and its tail are kept: how it began and where it ended."""

    def begin(depth: int) -> None:
        first(depth)

    def first(depth: int) -> None:
        second(depth - 1)

    def second(depth: int) -> None:
        if not depth:
            raise Declined("at the end")
        first(depth)

    try:
        begin(300)
    except Declined as error:
        text = check(error).traceback
    assert "in begin" in text
    assert "frames are left out" in text
    assert text.endswith("Declined: at the end\n")
    causes = raised(Declined("last"), raised(Declined("x" * 9_000), raised(Declined("first"))))
    for _ in range(8):
        causes = raised(Declined("y" * 1_900), causes)
    text = check(raised(Declined("final"), causes)).traceback
    assert "Declined: first" in text
    assert "characters are left out" in text
    assert text.endswith("Declined: final\n")


def test_endless_recursion() -> None:
    """A RecursionError is recorded like any other."""

    def again() -> None:
        again()

    with pytest.raises(RecursionError) as caught:
        again()
    assert "in again" in check(caught.value).traceback


def test_notes() -> None:
    """Notes are kept, bounded, and stand in the traceback."""
    error = raised(ValueError("x"))
    for number in range(50):
        error.add_note(f"note {number} \x00" + "n" * 1_000)
    info = check(error)
    assert len(info.notes) == MAX_NOTES + 1
    assert info.notes[0].startswith("note 0 \\x00nnn")
    assert info.notes[-1] == "… 40 more notes"
    assert "note 0 \\x00" in info.traceback


def test_the_frame_to_blame() -> None:
    """The innermost frame of the user's own code: not the library's that raised, and not ours that called."""

    def parse() -> None:
        json.loads("{")

    with pytest.raises(ValueError, match="Expecting") as caught:
        parse()
    assert describe(caught.value).where == f"{__name__}:test_the_frame_to_blame.<locals>.parse"
    outside: dict[str, Any] = {"__name__": "shop.views"}
    installed = compile("def view(call): call()", "/srv/lib/site-packages/shop/views.py", "exec")
    exec(installed, outside)  # noqa: S102
    library: dict[str, Any] = {"__name__": "json.decoder"}
    exec(compile("def fail(): raise KeyError", "decoder.py", "exec"), library)  # noqa: S102
    with pytest.raises(KeyError) as installed_one:
        outside["view"](library["fail"])
    assert describe(installed_one.value).where == f"{__name__}:test_the_frame_to_blame"
    # Without the frame of this test, which is outside site-packages.
    installed_one.value.__traceback__ = installed_one.tb.tb_next
    assert describe(installed_one.value).where == "shop.views:view"  # a project that is itself installed
    assert describe(ValueError()).where == ""
