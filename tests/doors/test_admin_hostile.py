"""Hostile text in every stored column, and every page of the console with it: nothing runs, nothing breaks."""

from __future__ import annotations

from typing import Any

import pytest
from django.db.models import Model
from django.test import Client

from saga_app.core import registry
from tests.doors import every_state
from tests.doors import world as worlds
from tests.doors.addresses import NOBODY, Address, addresses, ours
from tests.doors.test_admin_markup import wrong_in
from tests.doors.world import World

NOSNIFF = "X-Content-Type-Options"
pytestmark = [pytest.mark.django_db, pytest.mark.timeout(600)]  # they open some hundred pages each


@pytest.fixture(autouse=True)
def own_sagas():
    with registry.isolate():
        yield


def pages(world: World, model: type[Model]) -> list[Address]:
    """Those of one table."""
    return [page for page in addresses(world) if page.model is model and page.kind not in NOBODY]


def wrong(client: Client, world: World, found: list[Address], well: tuple[int, ...] = (200,)) -> dict[str, Any]:
    """What is wrong with these pages, by address."""
    client.force_login(world.operator)
    said = {}
    for page in found:
        answer = client.get(page.url, follow=True)
        if answer.status_code not in well:
            said[page.url] = answer.status_code
        elif answer["Content-Type"].startswith("text/html"):
            said[page.url] = wrong_in(answer)
        elif not (answer["Content-Disposition"].startswith("attachment") and answer.get(NOSNIFF) == "nosniff"):
            said[page.url] = "a browser might show it"
    return {url: what for url, what in said.items() if what}


@pytest.mark.parametrize("model", ours(), ids=lambda model: model.__name__)
def test_what_people_and_sagas_say_is_text(client: Client, model: type[Model]) -> None:
    """In inputs, outputs, errors, keys, reasons, titles, payloads, selections, names of people and of workers."""
    world = worlds.make(every_state.STATES)
    assert wrong(client, world, pages(world, model)) == {}


@pytest.mark.parametrize("model", ours(), ids=lambda model: model.__name__)
def test_what_is_in_the_tables_is_text(client: Client, model: type[Model]) -> None:
    """In every column that can hold text, whoever put it there: a page is shown, and shows text."""
    world = worlds.make()
    found = pages(world, model)
    worlds.poison()
    assert wrong(client, world, found, well=(200, 404)) == {}  # a gate of that name may not be there any more
