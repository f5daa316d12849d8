"""Past moments in a real browser: by the slider, and without a script by its button and by links."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from saga_app.models import Execution
from tests.browser.tab import Tab
from tests.doors import world as worlds
from tests.doors.confirm_page import run_url
from tests.doors.world import World

BANNER = ".saga-then strong"
SLIDER = "#saga-moment"


@pytest.fixture
def world(server: str) -> World:
    return worlds.make(["stuck going back"])


@pytest.fixture
def execution(world: World) -> Execution:
    return world.states["stuck going back"]


def test_the_slider_shows_its_moment(opened: Callable[..., Tab], world: World, execution: Execution) -> None:
    """By the keyboard: one to the left is one moment earlier; home is the first."""
    tab = opened(world.operator)
    page = tab.go(run_url(execution))
    expect(page.locator(BANNER)).to_have_count(0)
    page.locator(SLIDER).press("ArrowLeft")
    expect(page.locator(BANNER)).to_contain_text("As it was at")
    page.locator(SLIDER).press("Home")
    expect(page.get_by_text("No step had begun.")).to_be_visible()
    expect(page.locator(".saga-verbs, .saga-undone")).to_have_count(0)
    assert [*tab.heard(), *tab.barriers()] == []
    page.get_by_role("link", name="Show it as it is now").click()
    expect(page.locator(BANNER)).to_have_count(0)


def test_without_a_script_there_are_links_and_a_button(
    opened: Callable[..., Tab], world: World, execution: Execution
) -> None:
    tab = opened(world.operator, java_script_enabled=False)
    page = tab.page
    page.goto(tab.server + run_url(execution))
    page.get_by_role("link", name="first").click()
    expect(page.get_by_text("No step had begun.")).to_be_visible()
    page.get_by_role("link", name="one later").click()
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.locator(BANNER)).to_contain_text("As it was at")


def test_a_bar_leads_to_its_step(opened: Callable[..., Tab], world: World, execution: Execution) -> None:
    """A click on it, for those who point; the table beside it has the same link for those who do not."""
    tab = opened(world.operator)
    page = tab.go(run_url(execution))
    page.locator(".saga-timeline a .saga-failed").first.click()
    expect(page.locator("tbody:target")).to_contain_text("ship")
    page.get_by_text("The timeline as a table").click()
    page.locator("#saga-timeline-words").get_by_role("link", name="charge").first.click()
    expect(page.locator("tbody:target")).to_contain_text("charge")
