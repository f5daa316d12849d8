"""The one rule for arguments: who fills a parameter, in which order, and what is said when nobody does."""

from __future__ import annotations

from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_app import Context, DefinitionError, Pivot, Saga, ref
from saga_app.core import registry
from saga_app.core.binding import CallPlan, fill
from saga_app.core.nodes import Branch, ForEach
from tests import strategies
from tests.core.making import CTX, Order, Values, made, refused, saga

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


# Loops


def test_items_and_turns() -> None:
    """Rule (3): the item, by the name of its loop, and which turn it is; a binding wins over both."""
    pack = made("pack", "line", "iteration", "sku", "n").bind(sku=ref("line.sku"), n=ref("iteration"))
    row = saga(ForEach("line", ref("input.lines"), pack, made("more", "line").bind(line=5)))
    plan = row.call("pack")
    values = Values(items={"line": {"sku": "A"}}, iteration=7)
    assert fill(plan, values, ctx=CTX) == {"line": {"sku": "A"}, "iteration": 7, "sku": "A", "n": 7}
    assert (plan.reads, plan.calls_user_code) == ({"line"}, True)
    assert fill(row.call("more"), Values(), ctx=CTX) == {"line": 5}
    assert row.call("line").reads == frozenset()


def test_an_item_that_leads_nowhere() -> None:
    """The error names the reference and what was found instead."""
    row = saga(ForEach("line", ref("input.lines"), made("pack", "sku").bind(sku=ref("line.skew"))))
    with pytest.raises(DefinitionError, match=r'ref."line.skew".: a value of type dict'):
        fill(row.call("pack"), Values(items={"line": {"sku": "A"}}), ctx=CTX)


def test_one_name_of_several_nodes() -> None:
    """What is read is whichever of them has run."""
    row = saga(Branch(lambda: "card", card=made("charge", provides="x"), bill=made("bill", provides="x")).named("pay"),
               made("ship", "x"))  # fmt: skip
    plan = row.call("ship")
    assert fill(plan, Values({}, {"bill": 2}), ctx=CTX) == {"x": 2}
    assert plan.reads == {"charge", "bill"}
    with pytest.raises(DefinitionError, match="`x`: `charge`, `bill` had nothing"):
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
    """Without input=, that goes for bound callables as for steps; a plain value asks for nothing."""
    bound = made("b", "x", "y").bind(x=lambda price, ctx, tax=1: price + tax, y=1)
    assert saga(bound).input_names == {"price": True, "tax": False}


def test_plain_plans_call_no_user_code() -> None:
    """The executor asks, because an outcome is stored before any other user code runs."""
    bound = made("b", "x", "y", "a").bind(x=1, y=ref("input.total"))
    assert saga(made("a"), bound, input=Order).call(bound).calls_user_code is False


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
