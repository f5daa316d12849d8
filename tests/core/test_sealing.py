"""Sealing: what handlers are given, and what is said when nobody fills a parameter."""

from __future__ import annotations

from typing import Any

import pytest

from saga_app import Context, DefinitionError, InputError, Saga, ref, step
from saga_app.core import registry
from saga_app.core.binding import fill
from saga_app.core.nodes import Approval, Child, If, Repeat, Sleep, While
from saga_app.core.steps import Step
from tests.core.making import CTX, Order, Values, made, refused, saga

# Handlers


def with_handlers(compensation: Any, *row: Any, **options: Any) -> tuple[Saga[Any], Step[..., Any]]:
    one = made("charge", "card", "total", optional=("note",))
    one.compensate(compensation)
    return saga(*row, one, **options), one


def test_a_compensation_gets_the_forward_arguments_first() -> None:
    """Hazard A99, Hazard B144, Hazard R26. The call's own arguments; then `result`, `error`; then what it could see."""
    row, one = with_handlers(lambda total, note, result, error, a, ctx, later=4: None, made("a"))
    plan = row.compensation_call(one)
    given_ = {"card": "visa", "total": 5, "note": "n", "result": "c1", "error": "boom"}
    assert fill(plan, Values({"total": 99, "card": "x"}, {"a": 1}), ctx=CTX, given=given_) == {
        "total": 5, "note": "n", "result": "c1", "error": "boom", "a": 1, "ctx": CTX, "later": 4,
    }  # fmt: skip
    assert plan.reads == {"a"}


def test_no_error_is_none() -> None:
    """A compensation may declare `error` although its step had completed."""
    row, one = with_handlers(lambda error, result=None: None)
    assert fill(row.compensation_call(one), Values(), ctx=CTX) == {"error": None, "result": None}


def test_a_result_without_a_default_is_never_invented() -> None:
    """Design: a compensation that declares `result` without a default is never called without one."""
    row, one = with_handlers(lambda result: None)
    with pytest.raises(DefinitionError, match="nothing fills parameter `result`: the stored arguments"):
        fill(row.compensation_call(one), Values(), ctx=CTX)


def test_given_never_replaces_ctx() -> None:
    """`ctx` is the context of this call, not of the forward one."""
    row, one = with_handlers(lambda ctx: None)
    assert fill(row.compensation_call(one), Values(), ctx=CTX, given={"ctx": "forward"}) == {"ctx": CTX}


def test_a_reconcile_follows_the_rule_of_a_compensation() -> None:
    """It sees the forward arguments and what the forward call could see."""
    one = made("charge", "card")
    one.reconcile(lambda card, a, ctx: None)
    plan = saga(made("a"), one).reconcile_call(one)
    assert fill(plan, Values({}, {"a": 1}), ctx=CTX, given={"card": "visa"}) == {"card": "visa", "a": 1, "ctx": CTX}


def test_a_handler_does_not_add_to_the_input() -> None:
    """A misspelt parameter of a handler must not become something that start() asks for."""
    with pytest.raises(DefinitionError) as caught:
        with_handlers(lambda totl: None)[0].seal()
    assert "the compensation of step `charge`" in str(caught.value)
    assert "Did you mean `total`?" in str(caught.value)


def test_a_handler_does_not_see_what_came_later() -> None:
    """It sees what the forward call could see."""
    one = made("charge", "card")
    one.reconcile(lambda ship: None)
    assert "only later" in refused(one, made("ship"))


# What chooses, waits and decides


def test_what_chooses_follows_the_rule() -> None:
    """Choosers, conditions and items are calls like any other, kept under the name of their node."""

    def is_big(total: int, a: int, limit: int = 5) -> bool:
        return total + a > limit

    row = saga(made("a"), If(is_big, made("b")), While(lambda b=None: b is None, made("c")).named("again"))
    assert row.input_names == {"total": True, "limit": False}
    assert fill(row.call("is_big"), Values({"total": 3}, {"a": 1}), ctx=CTX) == {"total": 3, "a": 1, "limit": 5}
    assert fill(row.call("again"), Values(), ctx=CTX) == {"b": None}


def test_a_condition_sees_what_its_body_provides() -> None:
    """Of a While maybe, of a Repeat surely."""
    assert "c=None" in refused(While(lambda c: c, made("c")).named("again"))
    row = saga(Repeat(made("c"), until=lambda c, iteration: c).named("done"))
    assert fill(row.call("done"), Values({}, {"c": 1}, iteration=2), ctx=CTX) == {"c": 1, "iteration": 2}


def test_how_long_it_sleeps() -> None:
    """A value, a reference, or a function that follows the rule."""
    row = saga(made("a"), Sleep(60), Sleep(ref("input.pause")).named("pause_too"),
               Sleep(until=lambda a, day: a + day).named("till"))  # fmt: skip
    assert row.input_names == {"pause": True, "day": True}
    assert fill(row.call("sleep"), Values(), ctx=CTX) == {"delta": 60}
    assert fill(row.call("pause_too"), Values({"pause": 5}), ctx=CTX) == {"delta": 5}
    assert fill(row.call("till"), Values({"day": 2}, {"a": 1}), ctx=CTX) == {"until": 3}
    assert "lambda pause=60: pause" in refused(made("may", required=False), Sleep(ref("may")))


def test_who_may_decide() -> None:
    """`allow` is asked by a door: `actor` is given, there is no ctx, and a misspelt name does not become the input."""
    row = saga(made("a"), Approval("ok", allow=lambda actor, a: actor == a))
    plan = row.allow_call("ok")
    assert fill(plan, Values({}, {"a": 1}), ctx=None, given={"actor": 1}) == {"actor": 1, "a": 1}
    assert "Approval `ok`, allow: there is no `ctx`" in refused(Approval("ok", allow=lambda actor, ctx: True))
    assert "nobody fills parameter `aktor`" in refused(Approval("ok", allow=lambda aktor: True))


# Children


def kid(**options: Any) -> Saga[Any]:
    with registry.isolate():
        return Saga("kid", made("pay", "total", optional=("note",)), **options)


def test_the_input_of_a_child() -> None:
    """Its fields are its parameters: bound, or filled by the same rule; what is optional may be left out."""
    row = saga(made("total"), made("note", required=False), Child(kid()))
    plan = row.call("kid")
    assert fill(plan, Values({}, {"total": 3, "note": "n"}), ctx=CTX) == {"total": 3, "note": "n"}
    assert fill(plan, Values({}, {"total": 3}), ctx=CTX) == {"total": 3}
    bound = saga(made("a"), Child(kid()).bind(total=ref("a"), note=lambda a, tax: f"{a}{tax}"))
    assert bound.input_names == {"tax": True}
    assert fill(bound.call("kid"), Values({"tax": 1}, {"a": 2}), ctx=CTX) == {"total": 2, "note": "21"}


def test_a_parent_asks_for_what_its_child_wants() -> None:
    """Without input=, what nobody fills is the parent's input, with the types that the child's declares."""
    row = saga(Child(kid(input=Order)))
    assert row.input_names == {"total": True, "sku": False}
    with pytest.raises(InputError, match=r"total: must be int, is str .asked by Child `kid`"):
        row.accept({"total": "3"})
    assert row.convert({"total": "3"}) == {"total": 3}


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ([Child("kid").bind(totl=1)], ["`.bind(totl=…)`", "the input of saga 'kid' has no `totl`", "`total`"]),
        ([Child("kid").named("first")], ["Child `first`: nobody fills the input of saga 'kid', its field `total`"]),
        ([made("total", required=False), Child("kid")], ["`total` may have nothing", "bind a function to it"]),
        ([Child("kind")], ["Child('kind')", "Did you mean `kid`?"]),
    ],
)
def test_what_is_said_of_a_child(nodes: list[Any], said: list[str]) -> None:
    """Its fields, its bindings, its name."""

    def fields(other: int = 1) -> None: ...

    with registry.isolate():
        Saga("kid", made("pay", "total", optional=("note",)))
        with pytest.raises(DefinitionError) as caught:
            Saga("s", *nodes, input=fields).seal()
    assert [one for one in said if one not in str(caught.value)] == []


def test_a_child_that_returns_nothing() -> None:
    """Whoever reads what it provides would wait for it in vain."""
    assert saga(Child(kid()), made("after")).input_names == {"total": True, "note": False}
    with pytest.raises(DefinitionError, match="what Child `kid` provides is read, and saga 'kid' returns nothing"):
        saga(Child(kid()), made("after", "kid")).seal()
    saga(Child(kid(output=ref("pay"))), made("after", "kid")).seal()


def test_children_of_children() -> None:
    """However deep, each is sealed once, the innermost first."""
    with registry.isolate():
        deep = Saga("level-0", made("pay", "total"))
        for level in range(1, 150):
            deep = Saga(f"level-{level}", Child(deep), Child(f"level-{level - 1}").named("again"))
        deep.seal()
    assert deep.input_names == {"total": True}


# What is said when nobody does


@pytest.mark.parametrize(
    ("nodes", "options", "said"),
    [
        ([made("a", "totl")], {"input": Order}, ["step `a`", "`totl`", "Did you mean `total`?", ".bind(totl=…)"]),
        ([made("a", "zzz")], {"input": Order}, ["There is `sku`, `total`."]),
        ([made("a", "b"), made("b")], {}, ["`b` provides `b` only later", "move it before"]),
        ([made("a", "b"), made("b")], {"input": Order}, ["`b` provides `b` only later"]),
        ([made("a", optional=("b",)), made("b")], {}, ["only later"]),
        ([made("a", "x").bind(x=ref("b")), made("b")], {}, ["only later"]),
        ([made("a", "x").bind(x=ref("totl"))], {"input": Order}, ['ref("totl")', "Did you mean `total`?"]),
        ([made("a", "x").bind(x=ref("input.totl"))], {"input": Order}, ["no `totl`", "Did you mean `total`?"]),
        ([made("a", "key")], {}, ["reserved word", "another name"]),
        ([made("a", "iteration")], {"input": Order}, ["reserved word"]),
        ([made("a", "x").bind(x=lambda index: index)], {}, ["reserved word"]),
        ([made("a", "x").bind(x=lambda totl: totl)], {"input": Order}, ["the callable bound to `x`", "`total`"]),
        ([made("a")], {"output": ref("b")}, ["output", "`b`", "There is `a`."]),
        ([made("a")], {"output": ref("input")}, ['ref("input.total")']),
        ([made("total")], {"input": Order}, ["field of its input", "step `total`", "rename the field"]),
        ([made("a", "a")], {}, ["field of its input", 'a.named(provides="a_of_a")']),
    ],
)
def test_what_is_said(nodes: list[Any], options: dict[str, Any], said: list[str]) -> None:
    """A parameter nobody fills names the saga, the step, the nearest name, and what to write instead."""
    text = refused(*nodes, **options)
    assert text.startswith("saga 's'")
    assert [one for one in said if one not in text] == []


def test_a_handler_is_not_told_to_bind() -> None:
    """`.bind(...)` gives arguments to the step alone."""

    @step
    def charge(card: str) -> None: ...

    @charge.compensate
    def refund(account: str) -> None: ...

    text = refused(charge)
    assert "nobody fills parameter `account`" in text and "give it a default" in text
    assert ".bind(" not in text


def test_the_context_is_called_ctx() -> None:
    """Under another name it would be taken for a field of the input."""

    @step
    def charge(card: str, context: Context) -> None: ...

    assert "write ctx: Context instead of context: Context" in refused(charge)

    @step
    def pay(ctx: Context) -> None: ...

    @pay.compensate
    def refund(c: Context) -> None: ...

    assert "the compensation of step `pay`" in refused(pay)
