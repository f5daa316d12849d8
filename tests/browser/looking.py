"""Which pages the browser looks at: some of each kind, found by discovery, each with a name for people."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from saga_app.models import Execution
from tests.doors import world as worlds
from tests.doors.addresses import NOBODY, Address, addresses
from tests.doors.world import World

MOST = {"execution_change": 3, "operatorbatch_change": 3}  # they differ by what they show; of all others, one does
STATES = ("stuck going back", "completed", "waiting", "suspended", "stuck held", "stuck past the pivot")


def make() -> World:
    """A world that looks different on every page."""
    return worlds.make(STATES)


def pages(world: World) -> Iterator[tuple[str, Address]]:
    """Some of each kind; the page of each verb is a kind of its own. What is downloaded is no page."""
    shown = [page for page in addresses(world) if page.kind not in ("", "json", *NOBODY) and not is_more_history(page)]
    for name, alike in groupby(sorted(shown, key=name_of), key=name_of):
        for number, page in enumerate(list(alike)[: MOST.get(name, 1)], 1):
            yield f"{name}-{number}", page


def name_of(page: Address) -> str:
    verb = re.search(r"/verb/(\w+)", page.url)
    return page.name.removeprefix("saga_app_") + (f"-{verb[1]}" if verb else "")


def is_more_history(page: Address) -> bool:
    """Django's own page, the same for all tables."""
    return page.kind == "history" and page.model is not Execution
