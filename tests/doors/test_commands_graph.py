"""`manage.py saga graph`: the text that it prints, of code that is there and of code that is gone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from saga_app import If, Saga, step, testing
from saga_app.core.drawn import dot, mermaid
from saga_app.core.graph import graph_of
from saga_app.models import SagaVersion
from tests.doors.shell import misspelt, refusal, saga, saga_json

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with testing.isolate_sagas():
        yield


@step
def echo(value: int = 1) -> Any:
    return value


def known(title: str = "", revision: int = 1) -> Saga[Any]:
    return Saga("buy", echo, If(lambda: True, echo.named("again")).named("sure"), title=title, revision=revision)


def kept(saga: Saga[Any], fingerprint: str = "f") -> None:
    SagaVersion.objects.bulk_create(
        [
            SagaVersion(
                saga=saga.name,
                revision=saga.revision,
                fingerprint=fingerprint,
                graph_text=json.dumps(graph_of(saga)),
                seen_at="2024-05-01T12:00:00Z",
            )
        ]
    )


def test_mermaid_and_dot_and_json() -> None:
    drawn = graph_of(known())
    assert saga("graph", "buy") == saga("graph", "buy", "--format=mermaid") == mermaid(drawn)
    assert saga("graph", "buy", "--format", "dot") == dot(drawn)
    assert saga_json("graph", "buy") == drawn
    misspelt("graph", "buy", "--format", "png")
    misspelt("graph")


def test_the_highest_revision_unless_one_is_named() -> None:
    known("first"), known("second", 2)
    assert "second" in saga("graph", "buy")
    assert "first" in saga("graph", "buy", "--revision", "1")
    assert refusal("graph", "buy", "--revision", "3") == "Saga 'buy' has no revision 3. There is 1, 2."


def test_code_that_is_gone_is_drawn_as_it_was_last() -> None:
    for title in ("as it was", "as it was last"):
        with testing.isolate_sagas():
            kept(known(title), fingerprint=title)
    assert "as it was last" in saga("graph", "buy")
    known("as it is now", 2)
    assert "as it is now" in saga("graph", "buy")
    assert "as it was last" in saga("graph", "buy", "--revision", "1")


def test_a_name_that_nobody_knows() -> None:
    assert refusal("graph", "buy") == "No saga is called 'buy'. There is none at all."
    known()
    with testing.isolate_sagas():
        kept(Saga("sell", echo))
    assert refusal("graph", "bye") == "No saga is called 'bye'. Did you mean `buy`?"
    assert refusal("graph", "sel") == "No saga is called 'sel'. Did you mean `sell`?"
    assert "\\x1b" in refusal("graph", "\x1b[31m")


def test_a_hostile_title_does_not_steer_the_terminal() -> None:
    known('\x1b]0;owned\x07 \u202e "quoted" \ud800')
    for form in ("dot", "mermaid"):
        assert all(line.isprintable() for line in saga("graph", "buy", "--format", form).splitlines())
