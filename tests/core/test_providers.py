"""Providers: when a name may have several, when it means two things, and what a turn of a loop comes to."""

from __future__ import annotations

import pytest

from saga_app import ref
from saga_app.core.nodes import (
    Approval,
    Branch,
    Child,
    Compute,
    ForEach,
    If,
    Milestone,
    Node,
    Parallel,
    Sleep,
    Try,
    Wait,
    While,
)
from saga_app.core.providers import last_of
from tests.core.making import made, refused, saga

a, b, c = made("a"), made("b"), made("c")
x = made("charge", provides="x")
x_too = made("bill", provides="x")


def chosen() -> bool:
    return True


def again() -> bool:
    return False


# The same name twice


@pytest.mark.parametrize(
    "nodes",
    [
        [Branch(chosen, one=x, two=x_too)],
        [If(chosen, x, otherwise=x_too)],
        [Try(x, recover=x_too)],
        [Wait("x", timeout=1, on_timeout=x_too)],
        [Approval("x", permission="shop.approve", timeout=1, on_timeout=x_too, on_reject=x)],
        [Branch(chosen, one=[If(again, x)], two=[Try(a, recover=x_too)])],
    ],
)
def test_one_name_of_several_providers(nodes: list[Node]) -> None:
    """Where only one of them runs, or the later stands in for the earlier."""
    assert saga(*nodes).readable.names["x"]


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ([x, x_too], ["`x` is provided by step `charge` and by step `bill`", 'bill.named(provides="x_of_bill")']),
        ([Parallel(one=x, two=x_too)], ["by step `charge` and by step `bill`"]),
        ([x, If(chosen, x_too)], ["by step `charge` and by step `bill`"]),
        ([While(again, x), x_too], ["by step `charge` and by step `bill`"]),
        ([ForEach("line", ref("lines"), x), x_too], ["by step `charge` and by step `bill`"]),
        ([x, Compute("all", again, provides="x")], ["and by Compute `all`", 'Compute(…).named(provides="x_of_all")']),
        ([Wait("x"), x], ["by Wait `x` and by step `charge`"]),
        (
            [made("m", provides="line"), ForEach("line", ref("lines"), a).named(provides="done")],
            ["`line` is provided by step `m` and is the item of loop `line`", 'ForEach("one_line", …)'],
        ),
        ([made("m", provides="line"), ForEach("line", ref("lines"), a)], ["by step `m` and by ForEach `line`"]),
    ],
)
def test_two_providers_of_one_name(nodes: list[Node], said: list[str]) -> None:
    """Whoever reads the name could get either."""
    text = refused(*nodes)
    assert [one for one in said if one not in text] == []


def test_an_input_named_like_an_item() -> None:
    """Whoever reads the name could mean either; the usual slip is to call the loop like the list."""
    text = refused(ForEach("lines", ref("input.lines"), a))
    assert "the item of loop `lines`" in text and 'ForEach("line", ref("input.lines"), …)' in text
    text = refused(ForEach("stock", ref("input.stock"), a))
    assert 'ForEach("one_stock", ref("input.stock"), …)' in text


# What a loop comes to


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ([a, b], ("b",)),
        ([a, Milestone("m"), Sleep(1)], ("a",)),
        ([a, Compute("c", again)], ("c",)),
        ([Branch(chosen, one=[a, x], two=b, default=[])], ("charge", "b")),
        ([a, If(chosen, b)], ("b",)),
        ([Try(a, b, recover=c)], ("b", "c")),
        ([While(again, a)], ("a",)),
        ([Wait("paid", timeout=1, on_timeout=[a, b])], ("paid", "b")),
        ([ForEach("inner", ref("line"), a)], ("inner",)),
        ([Child("other").named("kid")], ("kid",)),
        ([a, Parallel(b, c)], ()),
    ],
)
def test_the_last_node_of_a_row(body: list[Node], names: tuple[str, ...]) -> None:
    """A turn comes to the output of the node that runs last in it, whichever of them that is."""
    assert last_of(body) == names
