"""Scopes: what a call can see by name from its place, whether it is sure, and what is said where it cannot."""

from __future__ import annotations

from typing import Any

import pytest

from saga_app import DefinitionError, ref
from saga_app.core.nodes import (
    Approval,
    Branch,
    Child,
    ForEach,
    If,
    Milestone,
    Node,
    Parallel,
    Pivot,
    Repeat,
    Sleep,
    Try,
    Wait,
    While,
)
from saga_app.core.planning import Scope
from saga_app.core.scopes import scope_at_end, scopes_of
from tests.core.making import made, refused, saga

a, b, c = made("a"), made("b"), made("c")
x = made("charge", provides="x")
x_too = made("bill", provides="x")


def chosen() -> bool:
    return True


def again() -> bool:
    return False


def end(*nodes: Node) -> dict[str, str]:
    """What exists behind them: name → why it may be missing; "" where it is sure."""
    scope = scope_at_end(nodes)
    return {name: scope.maybe.get(name, "") for name in scope.outputs}


def at(name: str, *nodes: Node) -> Scope:
    return scopes_of(nodes)[name]


# Always or maybe


def test_a_row() -> None:
    """A name exists behind its node; maybe where the node may fail and the saga goes on."""
    row = (a, made("may", required=False), Pivot(), b)
    assert end(*row) == {"a": "", "may": "its step is required=False", "b": ""}
    scope = at("may", *row)
    assert (scope.outputs, dict(scope.maybe), scope.items, scope.turns) == ({"a": ("a",)}, {}, (), False)
    assert scope.absent("b") == "`b` provides `b` only later; move it before this step"
    assert scope.absent("a") == scope.absent("nothing") == ""


def test_a_branch() -> None:
    """What only some paths provide may be missing, and the error names them; on every path, it is sure."""
    pay = Branch(chosen, card=[x, a], invoice=[x_too, b], cash=c).named("pay")
    only_card = "only path `card` of `pay` provides it"
    assert end(pay) == {
        "x": "only the paths `card` and `invoice` of `pay` provide it",
        "a": only_card, "b": "only path `invoice` of `pay` provides it", "c": "only path `cash` of `pay` provides it",
    }  # fmt: skip
    assert end(Branch(chosen, card=x, invoice=x_too))["x"] == ""
    assert end(Branch(chosen, card=x, default=x_too))["x"] == ""
    assert end(Branch(chosen, card=x, default=[])) == {"x": "only path `card` of `chosen` provides it"}
    assert scope_at_end([Branch(chosen, card=x, invoice=x_too)]).outputs == {"x": ("charge", "bill")}


def test_an_if() -> None:
    """Both ways, or one of them."""
    assert end(If(chosen, x, otherwise=x_too)) == {"x": ""}
    assert end(If(chosen, x, otherwise=b)) == {
        "x": "it is provided only where `chosen` is True", "b": "it is provided only where `chosen` is False",
    }  # fmt: skip


def test_a_try() -> None:
    """What the body provides may be missing in recover and behind it, unless recover provides it too."""
    both = Try(x, a, recover=[x_too, b])
    assert end(both) == {
        "x": "", "a": "only what Try(…) tries provides it", "b": "only recover=[…] of Try(…) provides it",
    }  # fmt: skip
    inside = at("bill", both)
    assert inside.outputs == {"x": ("charge",), "a": ("a",)}
    assert set(inside.maybe.values()) == {"what provides it may have failed, or never been reached"}
    assert at("b", both).maybe.keys() == {"a"}
    assert "only recover=[…]" in at("charge", both).absent("b")


def test_a_while() -> None:
    """Its body may never run; in it, and in the condition, there is what the turn before provided, if there was one."""
    loop = While(again, a, b)
    assert end(loop) == dict.fromkeys("ab", "the loop `again` may have no turn at all")
    first = dict.fromkeys("ab", "the first turn of `again` has nothing of it yet")
    assert dict(at("again", loop).maybe) == dict(at("a", loop).maybe) == first
    assert at("b", loop).maybe.keys() == {"b"}
    assert at("again", loop).turns


def test_a_repeat() -> None:
    """Its body runs at least once: behind it, and in the condition, all is sure."""
    loop = Repeat(a, made("may", required=False), until=again)
    assert end(loop) == {"a": "", "may": "its step is required=False"}
    assert at("a", loop).maybe.keys() == {"a", "may"}
    assert at("again", loop).maybe.keys() == {"may"}


def test_a_for_each() -> None:
    """What the body provides is there inside it alone; behind it there is the list."""
    loop = ForEach("line", ref("lines"), a, b)
    assert end(loop, c) == {"line": "", "c": ""}
    inside = at("b", loop)
    assert (inside.items, inside.turns, inside.outputs, dict(inside.maybe)) == (("line",), True, {"a": ("a",)}, {})
    assert at("line", loop).items == ()
    only_inside = (
        "`a` is there only inside the loop `line`; after it, `line` is the list of what the last node of the body "
        "provides"
    )
    assert at("c", loop, c).absent("a") == at("c", c, loop).absent("a") == only_inside
    named = loop.named(provides="lines_done")
    assert end(named) == {"lines_done": ""}
    assert "after it, `lines_done` is the list" in at("c", named, c).absent("line")
    assert "and there only after the last one" in at("b", named).absent("lines_done")
    assert "`line` provides `lines_done` only later" in at("c", c, named).absent("lines_done")


def test_loops_in_loops() -> None:
    """All items are seen, innermost first."""
    loop = ForEach("order", ref("orders"), ForEach("line", ref("order.lines"), a), b)
    assert at("a", loop).items == ("line", "order")
    assert at("line", loop).items == ("order",)
    assert at("b", loop).outputs == {"line": ("line",)}


def test_a_parallel() -> None:
    """A branch does not see those beside it; behind the group all are sure."""
    group = Parallel(car=[a, b], hotel=[c])
    assert end(group) == {"a": "", "b": "", "c": ""}
    assert at("b", group).outputs == {"a": ("a",)}
    beside = at("c", group).absent("b")
    assert "`b` provides `b` and runs beside it, in the branch `car`" in beside
    in_turns = at("c", While(again, group))
    assert in_turns.outputs.keys() == {"c"}, "what a branch beside did in the turn before would be a matter of luck"


def test_a_wait() -> None:
    """Without on_timeout its payload is sure; where its time is up, its block stands in for it."""
    assert end(Wait("paid")) == end(Wait("paid", timeout=1)) == {"paid": ""}
    waiting = Wait("paid", timeout=1, on_timeout=[x])
    assert end(waiting) == {
        "paid": "`paid` has nothing where its time is up",
        "x": "it is provided only where `paid` has not opened: where its time is up",
    }  # fmt: skip
    assert end(Wait("paid", timeout=1, on_timeout=made("remind", provides="paid"))) == {"paid": ""}
    assert "`paid` has nothing where its time is up" in at("charge", waiting).absent("paid")


def test_an_approval() -> None:
    """A rejection is a Decision too; only where the time is up there is none."""
    asked: dict[str, Any] = {"permission": "shop.approve", "timeout": 1}
    assert end(Approval("ok", **asked)) == end(Approval("ok", on_reject="continue", **asked)) == {"ok": ""}
    both = Approval("ok", on_reject=[x, a], on_timeout=[x_too], **asked)
    assert end(both) == {
        "ok": "`ok` has nothing where its time is up",
        "x": "it is provided only where `ok` has not opened: where its time is up or it is rejected",
        "a": "it is provided only where `ok` has not opened: where it is rejected",
    }  # fmt: skip
    assert at("charge", both).outputs == {"ok": ("ok",)}
    assert at("bill", both).outputs == {}


def test_what_provides_nothing() -> None:
    """Marks and sleeps; a child provides what it returns."""
    assert end(Milestone("m"), Sleep(1), Pivot(), Child("other").named("kid")) == {"kid": ""}


def test_a_maybe_on_every_way_stays_one() -> None:
    """The reason is the inner one."""
    mays = {word: made(word, provides="y", required=False) for word in ("one", "two")}
    assert end(Branch(chosen, **mays)) == {"y": "its step is required=False"}
    assert end(Repeat(Branch(chosen, one=x, default=[]), until=again))["x"] == "only path `one` of `chosen` provides it"


# What is said


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        (
            [Branch(chosen, card=x, cash=a).named("pay"), made("r", "x")],
            "because only path `card` of `pay` provides it",
        ),
        ([Branch(chosen, card=x, cash=made("r", "x")).named("pay")], "because only path `card` of `pay` provides it"),
        (
            [Branch(lambda x: "card", card=x).named("pay")],
            "`x` is a field of its input and is provided by step `charge`",
        ),
        ([Parallel(one=x, two=made("r", "x"))], "runs beside it"),
        ([Parallel(one=x, two=Repeat(made("r", "x"), until=again))], "runs beside it"),
        ([ForEach("line", ref("lines"), x), made("r", "x")], "only inside the loop `line`"),
        ([ForEach("line", ref("lines"), x).named(provides="done"), made("r", "line")], "after it, `done` is the list"),
        ([ForEach("line", ref("lines"), Parallel(x, a)), made("r", "line")], "would be a list of nothing"),
        ([Wait("paid", timeout=1, on_timeout=made("r", "paid"))], "`paid` has nothing where its time is up"),
        ([Try(made("r", "x"), recover=x)], "only recover=[…] of Try(…) provides it"),
        ([made("r", "x"), Branch(chosen, card=x)], "`charge` provides `x` only later"),
        (
            [While(lambda x: True, x).named("loop")],
            "the first turn of `loop` has nothing of it yet: give the parameter a",
        ),
        ([made("r", "iteration")], "reserved word"),
    ],
)
def test_what_is_said(nodes: list[Node], said: str) -> None:
    """Of a name that cannot be had in its place, why; whether it is bound by a reference or not."""
    assert said in refused(*nodes)


def test_references_are_told_the_same() -> None:
    """`ref("x")` follows the same rule."""
    bound = made("r", "v").bind(v=ref("x"))
    assert "runs beside it" in refused(Parallel(one=x, two=bound))
    assert "only path `card`" in refused(Branch(chosen, card=x, default=[]), bound)
    with pytest.raises(DefinitionError, match="only inside the loop `line`"):
        saga(ForEach("line", ref("input.lines"), x), output=ref("x")).seal()
