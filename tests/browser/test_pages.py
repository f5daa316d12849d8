"""Every page of the console in a real browser: nothing that a strict policy forbids, nothing that keeps people out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby

import pytest

from tests.browser.tab import Tab
from tests.doors import world as worlds
from tests.doors.addresses import NOBODY, Address, addresses
from tests.doors.world import World

OF_EACH = 3  # of the pages that are one template, so many are looked at
FEW = ("stuck going back", "waiting", "completed", "suspended", "stuck held", "stuck past the pivot")


def pages(world: World, most: int = OF_EACH) -> Iterator[Address]:
    """Some of each kind; a verb is a kind of its own."""
    shown = [page for page in addresses(world) if page.kind not in ("", *NOBODY)]
    for _, alike in groupby(
        shown, key=lambda page: (page.name, page.url.rpartition("verb/")[2] if "verb" in page.url else "")
    ):
        yield from list(alike)[:most]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_well(opened: Callable[..., Tab], scheme: str) -> None:
    """No violation of the policy, no error, no dialog; and axe finds nothing serious in what is ours."""
    world = worlds.make(FEW)
    tab = opened(world.operator, color_scheme=scheme)
    wrong: dict[str, list[str]] = {}
    for page in pages(world):
        tab.go(page.url)
        tab.keep(f"{scheme}-{page.url.removeprefix('/admin/saga_app/')}")
        for one in [*tab.heard(), *tab.barriers(colours=scheme == "dark")]:  # what is not a colour was seen by daylight
            wrong.setdefault(one, []).append(page.url)
    assert not wrong, "\n".join(f"{one} on {len(urls)} pages: {urls[0]}" for one, urls in wrong.items())
