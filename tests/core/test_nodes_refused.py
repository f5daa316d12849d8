"""Nodes that mean nothing are refused when they are written, each with the line to write instead."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
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
)
from saga_app.core import registry
from tests.core.making import made

A, B = made("a"), made("b").named("b-1")
LINES = ref("input.lines")


def check() -> bool:
    return True


async def ask() -> bool:
    return True


def star(*all_of_it: int) -> bool:
    return bool(all_of_it)


def numbers() -> Any:
    yield 1


class Owner:
    def method(self) -> bool:
        return True


@dataclass
class Answer:
    text: str


def refusal(write: Callable[[], object]) -> str:
    with registry.isolate(), pytest.raises(DefinitionError) as caught:
        write()
    return str(caught.value)


#: What is written → what the error says.
CASES: list[tuple[Callable[[], object], str]] = [
    # Rows with nothing in them
    (lambda: Branch(check), "Branch(check) has no paths: write Branch(choose, card="),
    (lambda: Branch(check, default=[]), "Branch(check) has no paths"),
    (lambda: Branch(check, card=[]), "path `card` is empty: write its nodes, or leave it out and write default=[]"),
    (lambda: Branch(check, card=()), "is empty"),
    (lambda: If(check), "If(check) has no nodes in it: write If(condition, first, second)"),
    (lambda: If(check, A, otherwise=[]), "If(check), otherwise is empty: write its nodes, or leave it out"),
    (lambda: While(check), "While(check) has no nodes in it: write While(condition, first"),
    (lambda: Repeat(until=check), "Repeat(check) has no nodes in it: write Repeat(first, second, until=condition)"),
    (lambda: ForEach("line", LINES), "ForEach('line') has no nodes in it: write ForEach('line', items, first"),
    (Parallel, "Parallel() has no branches: write Parallel(book_car, hotel=["),
    (lambda: Parallel(hotel=[]), "Parallel(…), branch `hotel` is empty: write its nodes, or leave it out"),
    (lambda: Try(recover=A), "Try(…) has no nodes in it: write Try(first"),
    (lambda: Try(A), "Try(…), recover is empty: write recover=[what_to_do_instead]"),
    (lambda: Try(A, recover=[]), "give the step required=False"),
    (lambda: Try(A, catch=(), recover=A), "Try(…) catches nothing: write the errors, as in catch=(CardDeclined,)"),
    (lambda: Wait("paid", timeout=1, on_timeout=[]), 'on_timeout is empty: write its nodes, or on_timeout="fail"'),
    (lambda: Approval("ok", allow=check, on_reject=[]), 'on_reject is empty: write its nodes, or on_reject="continue"'),
    # What is no node
    (lambda: If(check, Pivot), "If(check) has `Pivot`, the class: write Pivot()"),  # type: ignore[arg-type]
    (lambda: If(check, A, otherwise=[Wait]), "If(check), otherwise has `Wait`, the class: write Wait(…)"),  # type: ignore[list-item]
    (lambda: While(check, check), "While(check): `check` is a plain function: write @step above its def"),  # type: ignore[arg-type]
    (lambda: Parallel(lambda: 1), "Parallel(…) has a lambda: write Compute("),  # type: ignore[arg-type]
    (lambda: Repeat([A, B], until=check), "Repeat(check) has a list of nodes: write them one after the other"),  # type: ignore[arg-type]
    (lambda: Try(A, recover=[[A]]), "Try(…), recover has a list of nodes"),  # type: ignore[list-item]
    (lambda: If(check, Compute), "has `Compute` without parentheses: write Compute(…)"),  # type: ignore[arg-type]
    (lambda: If(check, Saga("kid", A)), "has a saga in it, <saga kid revision 1>: write Child(…) around it"),  # type: ignore[arg-type]
    (lambda: Branch(check, card="charge"), "path `card` has 'charge', which is no node: write a step"),  # type: ignore[arg-type]
    (lambda: Parallel(A, workers=3), "branch `workers` has 3, which is no node"),  # type: ignore[arg-type]
    (lambda: Wait("paid", timeout=1, on_timeout=check), "on_timeout: `check` is a plain function"),  # type: ignore[arg-type]
    # What chooses
    (lambda: If(True, A), "If(…): True cannot be called: write a function that returns True or False"),  # type: ignore[arg-type]
    (lambda: If(ref("a"), B), 'If(…): ref("a") cannot be called: write a function'),  # type: ignore[arg-type]
    (lambda: While(3, A), "While(…): 3 cannot be called: write a function that returns True or False"),  # type: ignore[arg-type]
    (lambda: Repeat(A, until=None), "Repeat(…): None cannot be called"),  # type: ignore[arg-type]
    (lambda: Branch("card", card=A), "'card' cannot be called: write a function that returns the name of a path"),  # type: ignore[arg-type]
    (lambda: If(B, A), "put it before, and choose by what it provides, as in lambda b_1: b_1"),
    (lambda: If(star, A), "If(…) takes *all_of_it, and a saga fills parameters by their names"),
    (lambda: If(Owner.method, A), "move it out of the class"),
    (lambda: If(Owner, A), "it has to be a function"),
    (lambda: If(numbers, A), "return a list instead of yielding"),
    (lambda: ForEach("line", [A, B]), "ForEach('line') has no nodes in it"),  # type: ignore[arg-type]
    (lambda: ForEach("line", [1, 2], A), '[1, 2] cannot be called: write a ref("input.lines") or a function'),  # type: ignore[arg-type]
    (lambda: ForEach("line", "input.lines", A), "its items are 'input.lines': write ref('input.lines')"),  # type: ignore[arg-type]
    (lambda: Compute(check, "x"), 'the name comes first, as in Compute("total", total_of)'),  # type: ignore[arg-type]
    (lambda: Compute("x", A), "`a` is a step already: write it as it is, without Compute(…)"),
    (lambda: Compute("x", 3), "it has to be a function"),  # type: ignore[arg-type]
    (lambda: Compute("x", check, attempts=0), "attempts=1 for no retry"),
    (lambda: Compute("x", check, timeout=0), "more than 0"),
    (
        lambda: Compute("x", check).compensate(check),
        "Compute `x` does nothing in the world, so there is nothing to undo",
    ),
    (lambda: Compute("x", check).reconcile(check), "make it a step, with @step above its def"),
    # Names
    (lambda: Branch(check, **{"a b": A}), "path `a b`: its name is 'a b': write letters"),
    (lambda: Branch(check, **{"": A}), "its name is ''"),
    (lambda: Parallel(**{"a/b": A}), "the name of a branch of Parallel(…) is 'a/b': write letters"),
    (lambda: Parallel(A, a=[B]), "two branches called `a`: name one of them, as in Parallel(a_again=…)"),
    (lambda: Parallel(A, A), "two branches called `a`"),
    (lambda: Parallel([A, B]), "Parallel(…) has a list without a name: write Parallel(hotel=["),  # type: ignore[arg-type]
    (lambda: Parallel(If(lambda: True, A)), "If(…) has no name to call its branch by: write Parallel(hotel=If(…))"),
    (lambda: ForEach("ctx", LINES, A), "provides `ctx`, a word that always means something else"),
    (lambda: ForEach("a[1]", LINES, A), "write letters"),
    (lambda: Wait(""), "the signal of Wait(…) is '': write letters"),
    (lambda: Wait(3), "the signal of Wait(…) is 3: write text"),  # type: ignore[arg-type]
    (lambda: Wait("__proto__"), "two underscores"),
    (lambda: Approval("", allow=check), "the name of Approval(…) is ''"),
    (lambda: Milestone(""), "the name of Milestone(…) is ''"),
    (lambda: Milestone("a:b"), "write letters"),
    (lambda: Compute("", check), "the name of Compute(…) is ''"),
    (lambda: Sleep(1).named("a/b"), "the name of Sleep(…) is 'a/b'"),
    (lambda: Child(""), "the name of a saga is ''"),
    (lambda: Child(A), 'write the saga, or its name, as in Child("place-order")'),  # type: ignore[arg-type]
    (lambda: Child(Saga("kid", A).using(priority=1)), "write the saga, or its name"),  # type: ignore[arg-type]
    (lambda: Child("kid").bind(x=A), '`Child(kid).bind(x=…)` is a step: write ref("a")'),
    (lambda: Child("kid").bind(x=ask), "is async"),
    (lambda: If(check, A).bind(x=1), "`check` has no parameter `x`"),
    # How often, how long
    (
        lambda: ForEach("line", LINES, A, concurrency=0),
        "ForEach('line'): concurrency is 0: write a whole number from 1",
    ),
    (lambda: ForEach("line", LINES, A, concurrency=-1), "concurrency is -1"),
    (lambda: ForEach("line", LINES, A, concurrency=1.5), "concurrency is 1.5"),  # type: ignore[arg-type]
    (lambda: ForEach("line", LINES, A, concurrency=True), "concurrency is True"),
    (lambda: ForEach("line", LINES, A, max_items=0), "max_items is 0"),
    (lambda: ForEach("line", LINES, A, max_items=10**9), "write a whole number from 1 to 1000000"),
    (lambda: While(check, A, max_iterations=0), "While(check): max_iterations is 0"),
    (lambda: While(check, A, max_iterations=math.inf), "max_iterations is inf"),  # type: ignore[arg-type]
    (lambda: Repeat(A, until=check, max_iterations=None), "Repeat(check): max_iterations is None"),  # type: ignore[arg-type]
    (lambda: Wait("paid", timeout=0), "Wait('paid'): timeout is 0: write a number of seconds that is more than 0"),
    (lambda: Wait("paid", timeout=-5), "more than 0"),
    (lambda: Wait("paid", timeout=math.nan), "more than 0"),
    (lambda: Wait("paid", timeout=math.inf), "ten years"),
    (lambda: Wait("paid", timeout="1h"), "write seconds"),  # type: ignore[arg-type]
    (
        lambda: Wait("paid", on_timeout=[A]),
        "has on_timeout and no timeout, so its time is never up: write timeout=3600",
    ),
    (lambda: Wait("paid", timeout=1, on_timeout="skip"), 'write on_timeout="fail", or a list of nodes'),  # type: ignore[arg-type]
    (lambda: Approval("ok", allow=check, on_timeout=A), "Approval('ok') has on_timeout and no timeout"),
    (lambda: Approval("ok", allow=check, timeout=timedelta(0)), "more than 0"),
    (Sleep, "write how long, as in Sleep(60), or Sleep(until=…)"),
    (lambda: Sleep(60, until=ref("a")), "the one or the other"),
    (lambda: Sleep(0), "Sleep(…): its length is 0"),
    (lambda: Sleep(-1), "more than 0"),
    (lambda: Sleep(math.inf), "ten years"),
    (lambda: Sleep(True), "write seconds"),
    (lambda: Sleep("60"), "Sleep(…) has '60': write seconds, a timedelta, a ref or a function"),  # type: ignore[arg-type]
    (lambda: Sleep(datetime(2024, 1, 1)), "write Sleep(until=…)"),  # type: ignore[arg-type]  # noqa: DTZ001
    (lambda: Sleep(until=date(2024, 1, 1)), "Sleep(until=…) has datetime.date(2024, 1, 1): write a datetime"),  # type: ignore[arg-type]
    (lambda: Sleep(until=60), "Sleep(until=…) has 60"),  # type: ignore[arg-type]
    (lambda: Sleep(A), 'Sleep(…) is a step: write ref("a")'),
    (lambda: Sleep(ask), "Sleep(…) is async"),
    (lambda: Sleep(until=timedelta), "Sleep(until=…) has"),
    # Who may, and which errors
    (lambda: Approval("ok"), 'can be given by nobody: write permission="shop.approve_order", or allow='),
    (lambda: Approval("ok", permission=""), "permission is '': write app.codename"),
    (lambda: Approval("ok", permission="approve"), "permission is 'approve': write app.codename"),
    (lambda: Approval("ok", permission="a.b.c"), "write app.codename"),
    (lambda: Approval("ok", permission=".approve"), "write app.codename"),
    (lambda: Approval("ok", permission=["shop.approve"]), "write app.codename"),  # type: ignore[arg-type]
    (lambda: Approval("ok", allow=True), "allow is True: write a function that says who may"),  # type: ignore[arg-type]
    (lambda: Approval("ok", allow=A), "allow is <step a>: write a function that says who may"),
    (lambda: Approval("ok", allow=ask), "allow is async"),
    (lambda: Approval("ok", allow=star), "takes *all_of_it"),
    (lambda: Approval("ok", allow=check, input=Answer("x")), "write a dataclass, a form, a serializer class"),
    (lambda: Approval("ok", allow=check, input=A), "write a dataclass"),
    (
        lambda: Approval("ok", allow=check, on_reject="stop"),  # type: ignore[arg-type]
        'write on_reject="fail", on_reject="continue" or a list of nodes',
    ),
    (lambda: Approval("ok", allow=check, four_eyes=1), "four_eyes is 1: write True or False"),  # type: ignore[arg-type]
    (lambda: Try(A, catch=("OSError",), recover=B), "write classes of exceptions, as in catch=(TimeoutError,)"),  # type: ignore[arg-type]
    (lambda: Try(A, catch=OSError("x"), recover=B), "catch=(OSError,)"),  # type: ignore[arg-type]
    (lambda: Try(A, catch=int, recover=B), "write classes of exceptions"),  # type: ignore[arg-type]
    (lambda: Child("kid").named(compensate=0), "compensate is 0: write True or False"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("write", "cure"), CASES, ids=[cure[:60] for _, cure in CASES])
def test_refusals(write: Callable[[], object], cure: str) -> None:
    """Each with its cure."""
    assert cure in refusal(write)


def test_a_callable_without_a_name_of_its_own() -> None:
    """A partial is like a lambda: it gets its name from `.named`."""
    node = If(functools.partial(check), A)
    assert (node.name, node.named("checked").chooser.name) == ("", "checked")
