"""Hostile text in every stored column, and every page of the console with it: nothing runs, nothing breaks."""

from __future__ import annotations

from typing import Any

import pytest
from django.db.models import Model
from django.test import Client

from saga_app.core import registry
from tests.doors import every_state
from tests.doors import world as worlds
from tests.doors.addresses import NOBODY, addresses, ours
from tests.doors.test_admin_markup import wrong_in
from tests.doors.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_sagas():
    with registry.isolate():
        yield


def shown(client: Client, world: World, model: type[Model], well: tuple[int, ...] = (200,)) -> dict[str, Any]:
    """What is wrong with the pages of one table, by address."""
    client.force_login(world.operator)
    found = {}
    for page in addresses(world):
        if page.model is model and page.kind not in NOBODY:
            answer = client.get(page.url, follow=True)
            found[page.url] = wrong_in(answer) if answer.status_code in well else answer.status_code
    return {url: wrong for url, wrong in found.items() if wrong}


@pytest.mark.parametrize("model", ours(), ids=lambda model: model.__name__)
def test_what_people_and_sagas_say_is_text(client: Client, model: type[Model]) -> None:
    """In inputs, outputs, errors, keys, reasons, titles, payloads, selections, names of people and of workers."""
    assert shown(client, worlds.make(every_state.STATES), model) == {}


@pytest.mark.parametrize("model", ours(), ids=lambda model: model.__name__)
def test_what_is_in_the_tables_is_text(client: Client, model: type[Model]) -> None:
    """In every column that can hold text, whoever put it there: a page is shown, and shows text."""
    world = worlds.make()
    worlds.poison()
    assert shown(client, world, model, well=(200, 404)) == {}  # a gate of that name may not be there any more
