"""The one rule for arguments: who fills a parameter, in which order, and what is said when nobody does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_app import Context, DefinitionError, Pivot, Saga, ref, step
from saga_app.core import registry
from saga_app.core.binding import CallPlan, fill
from saga_app.core.steps import Step
from tests import strategies


@dataclass
class Values:
    """What one execution has so far, as the executor would hand it in."""

    input: Mapping[str, Any] = field(default_factory=dict)
    outputs: Mapping[str, Any] = field(default_factory=dict)

    def output(self, path: str) -> Any:
        return self.outputs[path]


CTX = SimpleNamespace(input=SimpleNamespace(total=3))


def saga(*nodes: Any, **options: Any) -> Saga[Any]:
    with registry.isolate():
        return Saga("s", *nodes, **options)


def made(name: str, *takes: str, optional: tuple[str, ...] = (), **options: Any) -> Step[..., Any]:
    parameters = [*((one, False) for one in takes), *((one, True) for one in optional)]
    return step(name=name, **options)(strategies.function(name, parameters))


def refused(*nodes: Any, **options: Any) -> str:
    with pytest.raises(DefinitionError) as caught:
        saga(*nodes, **options).seal()
    return str(caught.value)


@dataclass
class Order:
    total: int
    sku: str = "A1"


# The order


def test_a_binding_wins_over_an_output_and_the_input() -> None:
    """Rule (2) before (4) and (5); ctx (1) before all."""
    first, bound = made("first", provides="x"), made("last", "x", "total", "ctx").bind(x=7, total=8)
    plan = saga(first, bound, input=Order).call(bound)
    assert fill(plan, Values({"total": 1}, {"first": 2}), ctx=CTX) == {"x": 7, "total": 8, "ctx": CTX}
    assert plan.reads == frozenset()


def test_an_output_is_found_under_the_name_it_provides() -> None:
    """Rule (4): the default of `provides` is the step's name."""
    plan = saga(made("a"), made("b", provides="bee"), last := made("last", "a", "bee")).call(last)
    assert fill(plan, Values({}, {"a": 1, "b": 2}), ctx=CTX) == {"a": 1, "bee": 2}
    assert plan.reads == {"a", "b"}


def test_the_input_comes_before_the_default() -> None:
    """Rules (5) and (6): a field that the input has fills the parameter, else its default does and is kept."""
    one = made("one", "total", optional=("sku", "other"))
    plan = saga(one, input=Order).call(one)
    assert fill(plan, Values({"total": 1, "sku": "B"}), ctx=CTX) == {"total": 1, "sku": "B", "other": None}


def test_without_input_the_rest_is_the_input() -> None:
    """Without input=, parameters nobody else fills are the input; one that always has a default is optional."""
    row = saga(made("a", "x", "y"), made("b", "a", optional=("y", "z")).bind(z=ref("input.w")), Pivot())
    assert row.input_names == {"x": True, "y": True, "w": False}
    plan = row.call(row.steps[1])
    assert fill(plan, Values({"x": 1, "y": 2}, {"a": 0}), ctx=CTX) == {"a": 0, "y": 2, "z": None}
    assert fill(plan, Values({"x": 1, "y": 2, "w": 3}, {"a": 0}), ctx=CTX) == {"a": 0, "y": 2, "z": 3}


@given(strategies.runnable_sagas())
def test_filling_is_total(row: Saga[Any]) -> None:
    """A saga that seals can fill every call when required input is given and every earlier step has its output."""
    with registry.isolate():
        given_input = {name: f"input {name}" for name, required in row.input_names.items() if required}
        outputs: dict[str, Any] = {}
        for one in row.steps:
            plan = row.call(one)
            values = Values(given_input, outputs)
            arguments = fill(plan, values, ctx=CTX)
            assert arguments.keys() == {each.name for each in one.parameters}
            assert plan.reads <= outputs.keys()
            for name, value in arguments.items():
                assert value == outputs.get(name, given_input.get(name))
            if one.compensation:
                handler = row.compensation_call(one)
                assert fill(handler, values, ctx=CTX, given={**arguments, "result": 5})["result"] == 5
            outputs[one.name] = f"output {one.name}"


@given(strategies.nodes())
def test_sealing_either_works_or_says_why(nodes: tuple[Any, ...]) -> None:
    """Whatever is written, sealing gives plans or a DefinitionError, and the same one each time."""
    row = saga(*nodes)
    with registry.isolate():
        said = [sealing(row), sealing(row)]
    assert said[0] == said[1]
    assert row.sealed == (not said[0])


def sealing(row: Saga[Any]) -> str:
    try:
        row.seal()
    except DefinitionError as refusal:
        return str(refusal)
    return ""


# Maybe


def test_a_maybe_needs_a_default() -> None:
    """What a required=False step provides may be missing, so its readers need a default."""
    maybe = made("maybe", required=False)
    assert "maybe=None" in refused(maybe, made("reader", "maybe"))
    assert "required=False" in refused(maybe, made("reader", "x").bind(x=ref("maybe")))
    reader = made("reader", optional=("maybe",))
    plan = saga(maybe, reader).call(reader)
    assert fill(plan, Values({}, {"maybe": 4}), ctx=CTX) == {"maybe": 4}
    assert fill(plan, Values({}, {}), ctx=CTX) == {"maybe": None}


def test_a_sure_output_that_is_missing_is_an_error() -> None:
    """It cannot be, so it must not pass for a default; the error names parameter and step."""
    reader = made("reader", optional=("a",))
    plan = saga(made("a"), reader).call(reader)
    with pytest.raises(DefinitionError, match="`a`: `a` had nothing"):
        fill(plan, Values(), ctx=CTX)


# Bindings


def test_refs_read_items_elements_and_attributes() -> None:
    """`ref` walks mappings by key, lists by number, and everything else by attribute."""
    output = {"card": SimpleNamespace(lines=[{"sku": "A"}, {"sku": "B"}]), "0": "zero"}
    bound = made("b", "p", "q", "r", "s").bind(
        p=ref("a.card.lines.1.sku"), q=ref("a.0"), r=ref("total"), s=ref("input.sku")
    )
    plan = saga(made("a"), bound, input=Order).call(bound)
    found = fill(plan, Values({"total": 9, "sku": "Z"}, {"a": output}), ctx=CTX)
    assert found == {"p": "B", "q": "zero", "r": 9, "s": "Z"}
    assert (plan.reads, plan.calls_user_code) == ({"a"}, True)


def test_ref_input_is_the_whole_input() -> None:
    """`ref("input")` is what ctx.input is."""
    bound = made("b", "order").bind(order=ref("input"))
    assert fill(saga(bound, input=Order).call(bound), Values(), ctx=CTX) == {"order": CTX.input}


@pytest.mark.parametrize("path", ["a.nothing", "a.lines.7", "a.lines.x", "a.lines.0.real.nothing"])
def test_a_ref_that_leads_nowhere(path: str) -> None:
    """At run time the error names the reference and what was found instead."""
    bound = made("b", "x").bind(x=ref(path))
    plan = saga(made("a"), bound).call(bound)
    with pytest.raises(DefinitionError, match=f'ref."{path}".: a value of type'):
        fill(plan, Values({}, {"a": {"lines": [1]}}), ctx=CTX)


def test_callables_follow_the_same_rule() -> None:
    """A callable given to bind() is called with outputs, input and ctx by name, each time it is asked for."""
    calls = []

    def both(a: int, total: int, ctx: Context, tax: int = 2) -> int:
        calls.append(ctx)
        return a + total + tax

    bound = made("b", "x").bind(x=both)
    plan = saga(made("a"), bound, input=Order).call(bound)
    assert fill(plan, Values({"total": 10}, {"a": 1}), ctx=CTX) == {"x": 13}
    assert (plan.reads, plan.calls_user_code, calls) == ({"a"}, True, [CTX])


def test_what_a_callable_lacks_is_the_input_too() -> None:
    """Without input=, that goes for bound callables as for steps."""
    bound = made("b", "x").bind(x=lambda price, ctx, tax=1: price + tax)
    assert saga(bound).input_names == {"price": True, "tax": False}


def test_plain_plans_call_no_user_code() -> None:
    """The executor asks, because an outcome is stored before any other user code runs."""
    bound = made("b", "x", "y", "a").bind(x=1, y=ref("input.total"))
    assert saga(made("a"), bound, input=Order).call(bound).calls_user_code is False


# Handlers


def with_handlers(compensation: Any, *row: Any, **options: Any) -> tuple[Saga[Any], Step[..., Any]]:
    one = made("charge", "card", "total", optional=("note",))
    one.compensate(compensation)
    return saga(*row, one, **options), one


def test_a_compensation_gets_the_forward_arguments_first() -> None:
    """Hazards A99, B144, R26. The call's own arguments; then `result`, `error`; then what it could see."""
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


# The output of the saga


def test_the_output_of_a_saga() -> None:
    """It is read like any reference; what may be missing is None."""
    row = saga(made("a"), made("b", required=False), output=ref("b.total"))
    plan = row.output_call
    assert isinstance(plan, CallPlan)
    assert fill(plan, Values({}, {"b": {"total": Decimal(2)}}), ctx=None) == {"value": Decimal(2)}
    assert fill(plan, Values({}, {}), ctx=None) == {"value": None}
    assert saga(made("a")).output_call is None


@given(st.lists(strategies.any_names, min_size=1, max_size=4, unique=True))
def test_names_of_any_shape_travel(names: list[str]) -> None:
    """Whatever the names, each step sees all steps before it."""
    row = [made(f"s_{name}", *names[:place], provides=name) for place, name in enumerate(names)]
    made_up = saga(*row)
    with registry.isolate():
        outputs = {f"s_{name}": name for name in names}
        for place, one in enumerate(row):
            assert fill(made_up.call(one), Values({}, outputs), ctx=CTX) == {name: name for name in names[:place]}
