"""The nodes of control flow as values: what each keeps of what was written, and copies instead of changes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from saga_app import (
    Approval,
    Branch,
    Child,
    Compute,
    DefinitionError,
    ForEach,
    If,
    Milestone,
    Parallel,
    Pivot,
    Repeat,
    Saga,
    Sleep,
    Try,
    Wait,
    While,
    ref,
    step,
)
from saga_app.core import registry
from saga_app.core.nodes import Node, blocks, called, walk
from saga_app.core.steps import Step
from tests.core.making import made

A, B, C = made("a"), made("b"), made("c")


def is_big(total: int) -> bool:
    return total > 100


def method(kind: str) -> str:
    return kind


@pytest.fixture(autouse=True)
def _isolated() -> Any:
    with registry.isolate():
        yield


def test_compute() -> None:
    """A step that does nothing in the world: recorded and retried like one, never compensated."""
    total = Compute("total", lambda a, b: a + b, provides="sum", attempts=5, timeout=timedelta(seconds=2), title="Sum")
    assert (total.kind, total.name, total.provides, total.title) == ("compute", "total", "sum", "Sum")
    assert (total.policy.attempts, total.policy.timeout, total.compensation, total.judge) == (5, 2.0, None, None)
    assert total.pure
    assert not A.pure
    plain = Compute("plain", is_big)
    assert (plain.policy.attempts, plain.policy.timeout, plain.provides) == (3, 30.0, "plain")
    assert plain.bind(total=ref("sum")).bindings == {"total": ref("sum")}
    assert plain(101) is True
    assert (repr(total), total.shown, A.shown) == ("<compute total>", "Compute `total`", "step `a`")


def test_branch() -> None:
    """Named like its callable; a lone node is a way of one, a list is a way; `default` may say that nothing is done."""
    node = Branch(method, card=A, invoice=[B, C], default=[])
    assert (node.kind, node.name, node.provides) == ("branch", "method", "")
    assert dict(node.paths) == {"card": (A,), "invoice": (B, C), "default": ()}
    assert (node.chooser.kind, node.chooser.name, node.chooser.provides) == ("compute", "method", "")
    assert node.bind(kind=ref("input.kind")).chooser.bindings == {"kind": ref("input.kind")}
    assert blocks(node) == [("card", (A,)), ("invoice", (B, C)), ("default", ())]


def test_if() -> None:
    """Both ways are there, the one that does nothing too."""
    node = If(is_big, A, B, otherwise=C)
    assert (node.kind, node.name, dict(node.paths)) == ("if", "is_big", {"true": (A, B), "false": (C,)})
    assert blocks(If(is_big, A)) == [("true", (A,)), ("false", ())]


def test_while_and_repeat() -> None:
    """Named like their condition, with a limit."""
    again, until = While(is_big, A, B), Repeat(A, until=is_big, max_iterations=3)
    assert (again.kind, again.name, again.body, again.max_iterations) == ("while", "is_big", (A, B), 100)
    assert (until.kind, until.name, until.body, until.max_iterations) == ("repeat", "is_big", (A,), 3)
    for node in (again, until):
        assert (node.condition.kind, node.condition.name, node.condition.provides) == ("compute", "is_big", "")
        assert blocks(node) == [("body", node.body)]
        assert node.bind(total=1).condition.bindings == {"total": 1}


def test_for_each() -> None:
    """The items come from a ref or a callable; what is provided is under the loop's name, unless said otherwise."""
    node = ForEach("line", ref("input.lines"), A, B)
    assert (node.kind, node.name, node.provides, node.body) == ("foreach", "line", "line", (A, B))
    assert (node.concurrency, node.max_items, node.items.name, node.items.provides) == (1, 1000, "line", "")
    assert node.items.bindings == {"items": ref("input.lines")}
    assert [one.name for one in node.items.parameters] == ["items"]
    assert node.items([1, 2]) == [1, 2]

    computed = ForEach("line", lambda order: order["lines"], A, concurrency=4, max_items=7)
    assert (computed.concurrency, computed.max_items, computed.items.name) == (4, 7, "line")
    assert computed.bind(order=ref("a")).items.bindings == {"order": ref("a")}


def test_parallel() -> None:
    """A lone node names its own branch; a list has its name written before it."""
    node = Parallel(A, Child("kid"), hotel=[B, C])
    assert (node.kind, node.name, node.provides) == ("parallel", "parallel", "")
    assert list(node.branches) == ["a", "kid", "hotel"]
    assert (node.branches["a"], node.branches["hotel"]) == ((A,), (B, C))
    assert blocks(node) == list(node.branches.items())


def test_try() -> None:
    """What is tried, which errors are caught, and what is done then."""
    node = Try(A, B, catch=OSError, recover=C)
    assert (node.kind, node.name, node.body, node.catch, node.recover) == ("try", "try", (A, B), (OSError,), (C,))
    assert Try(A, recover=[B]).catch == (Exception,)
    assert blocks(node) == [("body", (A, B)), ("recover", (C,))]


def test_child() -> None:
    """Another saga, or its name; called like it, with what a path cannot have replaced."""
    kid = Saga("my.kid-1", A)
    node = Child(kid).bind(x=ref("b"), y=1)
    assert (node.kind, node.name, node.provides, node.compensated) == ("child", "my_kid_1", "my_kid_1", True)
    assert (node.saga, node.target, node.bindings) == (kid, kid, {"x": ref("b"), "y": 1})
    other = node.named("other", compensate=False)
    assert (other.name, other.provides, other.compensated, other.bindings) == ("other", "other", False, node.bindings)
    assert not other.named("third").compensated
    assert node.compensated


def test_a_child_by_name_is_the_highest_revision() -> None:
    """Looked up when it is first asked for, and the same for all copies from then on."""
    node = Child("kid")
    with pytest.raises(DefinitionError, match=r"Child\('kid'\): no saga is called 'kid'"):
        _ = node.target
    Saga("kid", A, revision=1)
    two = Saga("kid", A, revision=2)
    assert node.target is two
    Saga("kid", A, revision=3)
    assert node.named("other").target is two


def test_wait() -> None:
    """Named like its signal, and provides what comes with it."""
    node = Wait("paid")
    assert (node.kind, node.name, node.signal, node.provides) == ("wait", "paid", "paid", "paid")
    assert (node.timeout, node.on_timeout, blocks(node)) == (None, "fail", [])
    late = Wait("paid", timeout=timedelta(days=1), on_timeout=[A, B]).named("second", provides="payment")
    assert (late.name, late.signal, late.provides, late.timeout) == ("second", "paid", "payment", 86_400.0)
    assert blocks(late) == [("timeout", (A, B))]


def test_approval() -> None:
    """Who may, what they are asked, and what happens when they say no or nothing."""
    node = Approval("ok", permission="shop.approve_order")
    assert (node.kind, node.name, node.provides, node.permission) == ("approval", "ok", "ok", "shop.approve_order")
    assert (node.allow, node.input, node.timeout, node.four_eyes) == (None, None, None, False)
    assert (node.on_timeout, node.on_reject, blocks(node)) == ("fail", "fail", [])
    assert (Approval("ok", allow=method, on_reject="continue").on_reject, node.on_reject) == ("continue", "fail")
    full = Approval("ok", allow=method, input=dict, timeout=60, on_timeout=A, on_reject=[B, C], four_eyes=True)
    assert (full.allow, full.input, full.timeout, full.four_eyes) == (method, dict, 60.0, True)
    assert blocks(full) == [("timeout", (A,)), ("reject", (B, C))]


def test_sleep() -> None:
    """For a while, or until a moment: now, from a value that is not there yet, or from a callable."""
    moment = datetime(2024, 3, 31, 2, 30)  # noqa: DTZ001 - in the project's zone
    aware = moment.replace(tzinfo=UTC)
    assert (Sleep(60).kind, Sleep(60).name, Sleep(60).provides) == ("sleep", "sleep", "")
    written: list[tuple[Sleep, dict[str, Any]]] = [
        (Sleep(60), {"delta": 60.0}),
        (Sleep(timedelta(days=1)), {"delta": 86_400.0}),
        (Sleep(ref("input.delay")), {"delta": ref("input.delay")}),
        (Sleep(method), {"delta": method}),
        (Sleep(until=moment), {"until": moment}),
        (Sleep(until=aware), {"until": aware}),
        (Sleep(until=ref("a")), {"until": ref("a")}),
        (Sleep(until=method), {"until": method}),
    ]
    for node, bindings in written:
        assert node.bindings == bindings


def test_marks() -> None:
    """A pivot needs no name, a milestone is known by its own."""
    assert (Pivot().kind, Pivot().name, Pivot().provides) == ("pivot", "", "")
    assert (Milestone("paid").kind, Milestone("paid").name, Milestone("paid").provides) == ("milestone", "paid", "")
    with pytest.raises(DefinitionError, match="has no name"):
        Pivot().named("x")


EVERY: list[Node] = [
    A,
    Compute("total", is_big),
    Branch(method, card=B),
    If(is_big, B),
    While(is_big, B),
    Repeat(B, until=is_big),
    ForEach("line", ref("input.lines"), B),
    Parallel(B),
    Try(B, recover=C),
    Child("kid"),
    Wait("paid"),
    Approval("ok", permission="shop.approve"),
    Sleep(60),
    Milestone("done"),
]


@pytest.mark.parametrize("node", EVERY, ids=lambda node: node.kind)
def test_every_node_is_a_value(node: Node) -> None:
    """Nobody can change one; `.named` gives a copy, whose inner step goes by the new name too."""
    for attribute in ("name", "kind", "anything"):
        with pytest.raises(AttributeError):
            setattr(node, attribute, "other")
    copy: Any = node.named("other")
    assert type(copy) is type(node)
    assert (copy.name, copy.kind, blocks(copy)) == ("other", node.kind, blocks(node))
    assert copy.provides == ("other" if node.provides else "")
    step_called = called(copy)
    assert step_called is None or step_called.name == "other"
    assert node.name != "other"
    assert node.named().name == node.name


@pytest.mark.parametrize("node", EVERY, ids=lambda node: node.kind)
def test_only_what_provides_something_can_name_it(node: Any) -> None:
    """A way that was chosen is no value to read."""
    if node.provides:
        assert node.named(provides="x").provides == "x"
        assert node.named("other", provides="x").provides == "x"
        for word in ("ctx", "a b"):
            with pytest.raises(DefinitionError):
                node.named(provides=word)
    else:
        with pytest.raises(DefinitionError, match="provides nothing"):
            node.named(provides="x")
    with pytest.raises(DefinitionError):
        node.named("a/b")


def test_lambdas_wait_for_a_name() -> None:
    """A condition is recorded under a name; a node whose callable has none gets it from `.named`."""
    lambdas: list[Any] = [
        Branch(lambda: "card", card=A),
        If(lambda: True, A),
        While(lambda: True, A),
        Repeat(A, until=lambda: True),
    ]
    for node in lambdas:
        assert node.name == ""
        assert repr(node) == f"<{type(node).__name__}>"
        inner = called(node.named("chosen"))
        assert inner
        assert inner.name == "chosen"


def test_a_callable_with_its_own_policy() -> None:
    """Where 3 attempts of 30 seconds do not fit, the callable is written as a Compute."""
    node = If(Compute("ask", is_big, attempts=9, provides="x"), A)
    assert (node.name, node.chooser.policy.attempts, node.chooser.provides) == ("ask", 9, "")


def test_coroutines_can_choose() -> None:
    """What chooses may be async like any body."""

    async def ask() -> bool:
        return True

    assert If(ask, A).chooser.is_async


def test_walk() -> None:
    """Every node, depth first, in the order in which they are written."""
    inner = While(is_big, made("in_while"))
    choice = Branch(method, card=[made("card"), inner], default=made("other"))
    gate = Wait("paid", timeout=1, on_timeout=made("late"))
    found = [one.name for one in walk((A, choice, gate, Pivot(), B))]
    assert found == ["a", "method", "card", "is_big", "in_while", "other", "paid", "late", "", "b"]


def test_what_is_called_under_a_name() -> None:
    """A step itself, or what a node chooses with; nothing where nothing is called."""
    found = {node.kind: called(node) for node in EVERY}
    assert found["step"] is A
    assert {kind for kind, one in found.items() if isinstance(one, Step)} == {
        *("step", "compute", "branch", "if", "while", "repeat", "foreach"),
    }


def test_queue_of_a_step() -> None:
    """A step may run on a queue of its own; its copies too."""
    heavy = step(name="heavy", queue="slow")(lambda: None)
    assert (heavy.queue, heavy.named("other").queue, A.queue) == ("slow", "slow", None)
