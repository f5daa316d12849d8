"""`manage.py saga` speaks English on a site of another language; what it drives speaks the site's."""

from __future__ import annotations

import pytest
from django.utils import translation

from saga_app import Saga, step, testing
from tests.doors import every_state
from tests.doors.shell import refusal, saga

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def german():
    with testing.isolate_sagas(), translation.override("de"):
        yield


def test_what_is_shown_is_english() -> None:
    """Its words are those of the README, and scripts may look for them."""
    execution = every_state.make("stuck held")
    shown = saga("show", execution.pk)
    assert "stuck" in shown and "Mend the cause and resume" in shown
    assert "hängt" not in shown + saga("executions") + refusal("cancel", every_state.make("failed").pk)


@pytest.mark.django_db(transaction=True)
def test_what_is_driven_speaks_the_language_of_the_site() -> None:
    spoken = []

    @step
    def speak() -> None:
        spoken.append(translation.get_language())

    Saga("speaks", speak).start()
    every_state.order(every_state.act("reserve", wait=every_state.LATER)).start(note="n")
    every_state.down.add("reserve")
    assert "1 waiting" in saga("drain")
    assert spoken == ["de"]
