"""@step: what it keeps of the function, what its options mean, and what it refuses, each time with the cure."""

from __future__ import annotations

import asyncio
import functools
import inspect
import math
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given

from saga_app import Backoff, DefinitionError, ref, step
from saga_app.core.policy import Policy
from saga_app.core.steps import Step
from tests import strategies


def charge(card: str, total: int = 1) -> str:
    """Take the money."""
    return f"{card}:{total}"


async def fetch(url: str) -> str:
    return url


# What a step keeps


@pytest.mark.parametrize("made", [step(charge), step()(charge), step(name="charge")(charge), step(charge, attempts=3)])
def test_with_or_without_parentheses(made: Step[..., Any]) -> None:
    """All ways of writing the decorator give the same step."""
    assert (made.name, made.provides, made.policy, made.kind) == ("charge", "charge", Policy(), "step")


def test_calling_a_step_calls_the_function() -> None:
    """A step is a callable like its function, positional arguments included, and records nothing."""
    assert step(charge)("visa") == "visa:1"
    assert step(charge)("visa", total=3) == charge("visa", 3)
    assert asyncio.run(step(fetch)("x")) == "x"


def test_a_step_looks_like_its_function() -> None:
    """Name, docstring, module, signature, annotations and coroutine-ness are the function's."""
    made = step(name="other")(charge)
    assert (made.__name__, made.__doc__, made.__module__) == ("charge", "Take the money.", __name__)  # type: ignore[attr-defined]
    assert inspect.signature(made) == inspect.signature(charge)
    assert made.__annotations__ == charge.__annotations__
    assert repr(made) == "<step other>"
    assert not inspect.iscoroutinefunction(made)
    assert inspect.iscoroutinefunction(step(fetch))
    assert inspect.iscoroutinefunction(step(fetch).named("again"))
    assert (made.is_async, step(fetch).is_async) == (False, True)


def test_the_options() -> None:
    """Every option ends up where it is read; seconds and timedelta mean the same."""
    made = step(
        name="pay",
        provides="charge_id",
        attempts=7,
        backoff=Backoff(first=1),
        retry_on=OSError,
        give_up_on=[KeyError],  # type: ignore[arg-type]
        rejected_on=(ValueError, TypeError),
        timeout=timedelta(minutes=1),
        atomic=True,
        using="other",
        required=False,
        idempotent=True,
        title="Pay",
    )(charge)
    assert made.policy == Policy(
        attempts=7,
        backoff=Backoff(first=1),
        retry_on=(OSError,),
        give_up_on=(KeyError,),
        rejected_on=(ValueError, TypeError),
        timeout=60.0,
    )
    assert (made.name, made.provides, made.title) == ("pay", "charge_id", "Pay")
    assert (made.atomic, made.using, made.required, made.idempotent) == (True, "other", False, True)
    assert step(timeout=None)(charge).policy.timeout is None


@given(strategies.steps())
def test_a_step_cannot_be_changed(made: Step[..., Any]) -> None:
    """Steps are values: nobody can change one, and a copy leaves the original as it was."""
    with pytest.raises(AttributeError):
        made.name = "other"  # type: ignore[misc]
    copy = made.named("other", compensate=False)
    assert (made.name, made.compensated, copy.name, copy.compensated) == ("alpha", True, "other", False)


# What it refuses


class Owner:
    def method(self, order_id: int) -> None: ...


def positional_only(order_id: int, /) -> None: ...


def star(*order_ids: int) -> None: ...


def stars(**order: int) -> None: ...


def undone(result: int) -> None: ...


def blamed(error: str) -> None: ...


def generator() -> Iterator[int]:
    yield 1


@pytest.mark.parametrize(
    ("function", "options", "cure"),
    [
        (star, {}, "write each one out"),
        (stars, {}, "write each one out"),
        (positional_only, {}, "take the `/` out"),
        (Owner.method, {}, "move it out of the class"),
        (lambda: 1, {}, 'step(name="…")'),
        (functools.partial(charge, "visa"), {}, 'step(name="…")'),
        (fetch, {"atomic": True}, "write a plain def"),
        (generator, {}, "return a list"),
        (Owner, {}, "has to be a function"),
        (3, {"name": "three"}, "has to be a function"),
        ("pay", {}, "@step(name='pay')"),
        (step(charge), {}, 'charge.named("…")'),
        (undone, {}, "another name"),
        (blamed, {}, "another name"),
        (min, {"name": "least"}, "wrap it in a function of your own"),
        (type, {"name": "kind"}, "has to be a function"),
        (dict.fromkeys, {"name": "builtin"}, "positional-only"),
        (charge, {"attempts": 0}, "attempts=1 for no retry"),
        (charge, {"attempts": -1}, "attempts=1 for no retry"),
        (charge, {"attempts": 10**9}, "at most"),
        (charge, {"attempts": 1.5}, "whole number"),
        (charge, {"attempts": True}, "whole number"),
        (charge, {"attempts": None}, "whole number"),
        (charge, {"timeout": -1}, "more than 0"),
        (charge, {"timeout": 0}, "more than 0"),
        (charge, {"timeout": math.nan}, "more than 0"),
        (charge, {"timeout": math.inf}, "ten years"),
        (charge, {"timeout": "30"}, "write seconds"),
        (charge, {"backoff": 3}, "backoff=Backoff("),
        (charge, {"retry_on": ("OSError",)}, "retry_on=(TimeoutError,)"),
        (charge, {"give_up_on": (int,)}, "give_up_on=(TimeoutError,)"),
        (charge, {"rejected_on": ValueError("no")}, "rejected_on=(ValueError,)"),
        (charge, {"retries": 3}, "There is"),
        (charge, {"attempt": 3}, "Did you mean `attempts`?"),
        (charge, {"queue": ""}, 'queue="slow"'),
        (charge, {"queue": " slow"}, 'queue="slow"'),
        (charge, {"queue": 3}, 'queue="slow"'),
        (charge, {"queue": "x" * 101}, 'queue="slow"'),
        (charge, {"atomic": 1}, "True or False"),
        (charge, {"required": "no"}, "True or False"),
        (charge, {"idempotent": None}, "True or False"),
        (charge, {"using": "other"}, "atomic=True"),
        (charge, {"using": "", "atomic": True}, "atomic=True"),
        (charge, {"name": ""}, "as in charge_card"),
        (charge, {"name": 3}, 'write text, as in "charge_card"'),
        (charge, {"name": "10"}, "not beginning with a digit"),
        (charge, {"name": "a/b"}, "as in charge_card"),
        (charge, {"name": "a:1"}, "as in charge_card"),
        (charge, {"name": "a[1]"}, "as in charge_card"),
        (charge, {"name": "a\n"}, "as in charge_card"),
        (charge, {"name": "__milestone"}, "two underscores"),
        (charge, {"name": "x" * 101}, "at most 100"),
        (charge, {"provides": "ctx"}, 'provides="ctx_value"'),
        (charge, {"provides": "a b"}, "as in charge_card"),
        (charge, {"name": "key"}, 'provides="key_value"'),
    ],
)
def test_refusals(function: Any, options: dict[str, Any], cure: str) -> None:
    """What could not run is refused when written, with the cure.

    Hazard A3. Hazard A105. Hazard A106. Hazard A112. Hazard R1. Hazard B8. Hazard B20.
    """
    with pytest.raises(DefinitionError) as refused:
        step(function, **options)
    assert cure in str(refused.value)


def test_a_reserved_word_may_name_a_step_that_provides_something_else() -> None:
    """Only names that parameters see are reserved."""
    assert step(name="key", provides="key_id")(charge).provides == "key_id"


# Copies


def test_named() -> None:
    """A new name is also the name of the output; without one only the rest changes."""
    made = step(charge, provides="charge_id")
    assert (made.named("deposit").name, made.named("deposit").provides) == ("deposit", "deposit")
    assert made.named("deposit", provides="deposit_id").provides == "deposit_id"
    assert (made.named(provides="other").name, made.named(provides="other").provides) == ("charge", "other")
    assert made.named(compensate=False).provides == "charge_id"
    assert made.named(compensate=False).named("again").compensated is False
    for bad in ({"name": "1"}, {"provides": "index"}, {"compensate": 0}):
        with pytest.raises(DefinitionError):
            made.named(**bad)  # type: ignore[arg-type]


def test_bind_adds_up() -> None:
    """Later bindings are added to earlier ones; the original has none."""
    made = step(charge)
    copy = made.bind(card="visa").bind(total=ref("input.total"))
    assert (dict(copy.bindings), dict(made.bindings)) == ({"card": "visa", "total": ref("input.total")}, {})
    assert dict(copy.bind(card="other").bindings)["card"] == "other"


async def later() -> str:
    return "visa"


@pytest.mark.parametrize(
    ("values", "cure"),
    [
        ({"crad": 1}, "Did you mean `card`?"),
        ({"zzz": 1}, "There is `card`, `total`."),
        ({"ctx": 1}, "always the context"),
        ({"card": step(provides="card_id", name="pick")(lambda: 1)}, 'ref("card_id")'),
        ({"card": later}, "write a plain function"),
        ({"card": star}, "write each one out"),
    ],
)
def test_refusals_of_bind(values: dict[str, Any], cure: str) -> None:
    """What could never be an argument is refused where it is written."""
    with pytest.raises(DefinitionError) as refused:
        step(charge).bind(**values)
    assert cure in str(refused.value)


@pytest.mark.parametrize("path", ["", ".", "a.", ".a", "a..b", "a._b", "a.__class__", None, 3])
def test_refusals_of_ref(path: Any) -> None:
    """A path is names with dots between them, none of them private."""
    with pytest.raises(DefinitionError, match="ref"):
        ref(path)


def test_a_ref_shows_as_written() -> None:
    """Error messages show what to look for in the file."""
    assert repr(ref("input.total")) == 'ref("input.total")'
