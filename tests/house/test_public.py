"""What is public is listed, and nothing else can be seen."""

from __future__ import annotations

import importlib
from types import ModuleType

import pytest

import saga_app

WORDS = """
    Approval Backoff Branch Child Compute Context Decision DefinitionError ForEach GiveUp Happened If InputError
    KeyConflict Milestone NotHappened NotReady Parallel Pivot Rejected Repeat RetryLater Saga SagaError Sleep Try
    Undecodable Unknown UnknownExecution UnknownSaga UnsupportedValue VerbRefused Wait While ref step
"""
PUBLIC_MODULES = ["saga_app", "saga_app.engine", "saga_app.telemetry", "saga_app.testing"]


def test_the_words_for_writing_sagas_are_these() -> None:
    """Whoever adds or drops a word changes this list too, and the changelog."""
    assert sorted(saga_app.__all__) == sorted(WORDS.split())


@pytest.mark.parametrize("name", PUBLIC_MODULES)
def test_every_listed_name_is_there(name: str) -> None:
    module = importlib.import_module(name)
    assert [word for word in module.__all__ if not hasattr(module, word)] == []
    assert len(set(module.__all__)) == len(module.__all__)


@pytest.mark.parametrize("name", PUBLIC_MODULES)
def test_nothing_else_looks_public(name: str) -> None:
    """What a public module defines without an underscore, and all that the package shows, is in `__all__`."""
    module = importlib.import_module(name)
    assert sorted(seen_in(module) - set(module.__all__)) == []


def seen_in(module: ModuleType) -> set[str]:
    public = {word: value for word, value in vars(module).items() if not word.startswith("_")}
    things = {word for word, value in public.items() if not isinstance(value, ModuleType)}
    if module is saga_app:
        return things
    return {word for word in things if getattr(public[word], "__module__", "") == module.__name__}
