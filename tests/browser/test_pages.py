"""Every page of the console in a real browser: nothing that a strict policy forbids, nothing that keeps people out."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser import looking
from tests.browser.tab import Tab


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_well(opened: Callable[..., Tab], scheme: str) -> None:
    """No violation of the policy, no error, no dialog; and axe finds nothing serious in what is ours."""
    world = looking.make()
    tab = opened(world.operator, color_scheme=scheme)
    wrong: dict[str, list[str]] = {}
    for name, page in looking.pages(world):
        tab.go(page.url)
        tab.keep(f"{scheme}-{name}")
        for one in [*tab.heard(), *tab.barriers(colours=scheme == "dark")]:  # what is not a colour was seen by daylight
            wrong.setdefault(one, []).append(page.url)
    assert not wrong, "\n".join(f"{one} on {len(urls)} pages: {urls[0]}" for one, urls in wrong.items())
