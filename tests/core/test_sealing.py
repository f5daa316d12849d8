"""Sealing: what handlers are given, and what is said when nobody fills a parameter."""

from __future__ import annotations

from typing import Any

import pytest

from saga_app import Context, DefinitionError, Saga, ref, step
from saga_app.core.binding import fill
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
