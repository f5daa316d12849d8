"""Live refresh in a real browser: what moves on the server shows, and nobody is disturbed by it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from saga_app import testing
from saga_app.models import Execution
from tests.browser.tab import Tab
from tests.doors import every_state
from tests.doors import world as worlds
from tests.doors.confirm_page import run_url, verb_url
from tests.doors.world import World

SOON = 15_000  # ms; it asks every two seconds where something moves, and this machine may be busy
STATUS = "#saga-run [data-saga-say]"
FIELD = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)"')
SAYS = ".saga-live [role=status]"


@pytest.fixture
def world(server: str) -> World:
    return worlds.make(["stuck going back"])


@pytest.fixture
def execution(world: World) -> Execution:
    return world.states["stuck going back"]


def resume(execution: Execution) -> None:
    """What was down is up, somebody resumes, and a worker does it."""
    every_state.down.clear()
    Execution.objects.get(pk=execution.pk).resume()
    testing.drain()


def said(tab: Tab, url: str) -> None:
    """Send a form as it is from beside the tab, and do not look at what is answered."""
    form = dict(FIELD.findall(tab.context.request.get(tab.server + url).text()))
    assert tab.context.request.post(tab.server + url, form=form, max_redirects=0).status == 302


def test_what_moves_is_shown_without_loading(opened: Callable[..., Tab], world: World, execution: Execution) -> None:
    """And a run that is final is asked for no more."""
    tab = opened(world.operator)
    page = tab.go(run_url(execution))
    page.evaluate("window.here = 1")
    expect(page.locator(SAYS)).to_have_text("Live · stuck")
    expect(page.locator(SAYS)).to_have_attribute("aria-live", "polite")
    resume(execution)
    expect(page.locator(STATUS)).to_have_text("failed", timeout=SOON)
    expect(page.locator(SAYS)).to_have_text("Final · failed")
    expect(page.get_by_role("button", name="Pause")).to_be_hidden()
    assert page.evaluate("window.here") == 1
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_timeout(3000)
    assert (asked, tab.heard()) == ([], [])


def test_the_reader_is_left_in_peace(opened: Callable[..., Tab], world: World, execution: Execution) -> None:
    """Focus stays where it is, what was opened stays open, what was marked stays marked."""
    page = opened(world.operator).go(run_url(execution))
    details = page.locator("tbody[id^=step-] details").first
    details.locator("summary").click()
    page.locator("tbody[id^=step-] summary").last.focus()
    focus = "document.activeElement.closest('tbody')?.id"
    held = page.evaluate(focus)
    resume(execution)
    expect(page.locator(STATUS)).to_have_text("failed", timeout=SOON)
    expect(details).to_have_attribute("open", "")
    assert page.evaluate(focus) == held
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"


def test_text_that_is_being_copied_waits(opened: Callable[..., Tab], world: World, execution: Execution) -> None:
    page = opened(world.operator).go(run_url(execution))
    page.locator(".saga-cause .saga-error").first.select_text()
    resume(execution)
    page.wait_for_timeout(5000)
    expect(page.locator(STATUS)).to_have_text("stuck")
    page.evaluate("getSelection().removeAllRanges()")
    expect(page.locator(STATUS)).to_have_text("failed", timeout=SOON)


def test_pause_stops_it_and_is_remembered(opened: Callable[..., Tab], world: World, execution: Execution) -> None:
    """WCAG 2.2.2. It is reached and pressed by keyboard."""
    tab = opened(world.operator)
    page = tab.go(run_url(execution))
    button = page.locator(".saga-live button")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.locator(SAYS)).to_have_text("Paused · stuck")
    resume(execution)
    page.wait_for_timeout(4000)
    expect(page.locator(STATUS)).to_have_text("stuck")
    other = tab.go(run_url(world.listening))
    expect(other.locator(SAYS)).to_contain_text("Paused")
    button.click()
    expect(other.locator(SAYS)).to_contain_text("Live")


def test_who_is_signed_out_is_told(opened: Callable[..., Tab], world: World, execution: Execution) -> None:
    """The page stays as it is: no login form comes into it, and a link leads to one."""
    tab = opened(world.operator)
    page = tab.go(run_url(execution))
    tab.context.clear_cookies()
    expect(page.locator(SAYS)).to_contain_text("you are signed out", timeout=SOON)
    expect(page.locator(STATUS)).to_have_text("stuck")
    assert page.locator("input[type=password]").count() == 0
    page.get_by_role("link", name="Load it again").click()
    expect(page.locator("input[type=password]")).to_be_visible()
    assert "next=" in page.url


def test_a_server_that_does_not_answer_is_told_and_asked_again(
    opened: Callable[..., Tab], world: World, execution: Execution
) -> None:
    page = opened(world.operator).go(run_url(execution))
    page.context.set_offline(True)
    expect(page.locator(SAYS)).to_contain_text("the server does not answer", timeout=SOON)
    resume(execution)
    page.context.set_offline(False)
    expect(page.locator(STATUS)).to_have_text("failed", timeout=SOON)


def test_a_page_that_nobody_looks_at_asks_nothing(
    opened: Callable[..., Tab], world: World, execution: Execution
) -> None:
    page = opened(world.operator).go(run_url(execution))
    shows = "(hidden) => { Object.defineProperty(document, 'hidden', {value: hidden, configurable: true}); "
    shows += "document.dispatchEvent(new Event('visibilitychange')) }"
    page.evaluate(shows, True)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    resume(execution)
    page.wait_for_timeout(4000)
    assert asked == []
    page.evaluate(shows, False)
    expect(page.locator(STATUS)).to_have_text("failed", timeout=SOON)


def test_messages_wait_for_a_page(opened: Callable[..., Tab], world: World, execution: Execution) -> None:
    """A tab that refreshes itself takes no message away from the next page."""
    tab = opened(world.operator)
    page = tab.go(run_url(execution))
    said(tab, verb_url(execution, "resume"))
    with page.expect_response(lambda answer: "x-saga-poll" in answer.request.headers, timeout=SOON):
        pass
    page.goto(page.url)
    expect(page.locator(".messagelist")).to_contain_text("accepted")


def test_it_asks_less_and_less_while_nothing_moves(opened: Callable[..., Tab], world: World) -> None:
    """That something is older now is no news."""
    page = opened(world.operator).go(run_url(world.gated))
    waits = []
    for _ in range(3):
        began = page.evaluate("performance.now()")
        with page.expect_request(lambda request: "x-saga-poll" in request.headers, timeout=3 * SOON):
            pass
        waits.append(page.evaluate("performance.now()") - began)
    assert waits[0] < waits[1] < waits[2], waits


def test_without_a_script_the_page_is_whole(opened: Callable[..., Tab], world: World, execution: Execution) -> None:
    page = opened(world.operator, java_script_enabled=False).go(run_url(execution))
    expect(page.locator(STATUS)).to_have_text("stuck")
    assert page.locator(".saga-live").count() == 0
    page.get_by_role("link", name="Resume…").click()
    assert page.url.endswith(verb_url(execution, "resume"))
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(".messagelist")).to_contain_text("accepted")
