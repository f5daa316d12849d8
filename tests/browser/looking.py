"""Which pages the browser looks at: some of each kind, found by discovery, each with a name for people."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from tests.doors import world as worlds
from tests.doors.addresses import NOBODY, Address, addresses
from tests.doors.world import World

MOST = {"change": 3, "history": 1}  # pages of one template; of all others there is one
STATES = ("stuck going back", "completed", "waiting", "suspended", "stuck held", "stuck past the pivot")


def make() -> World:
    """A world that looks different on every page."""
    return worlds.make(STATES)


def pages(world: World) -> Iterator[tuple[str, Address]]:
    """Some of each kind; the page of each verb is a kind of its own. What is downloaded is no page."""
    shown = [page for page in addresses(world) if page.kind not in ("", "json", *NOBODY)]
    for name, alike in groupby(sorted(shown, key=name_of), key=name_of):
        found = list(alike)
        for number, page in enumerate(found[: MOST.get(found[0].kind, 1)], 1):
            yield f"{name}-{number}", page


def name_of(page: Address) -> str:
    verb = re.search(r"/verb/(\w+)", page.url)
    return page.name.removeprefix("saga_app_") + (f"-{verb[1]}" if verb else "")
