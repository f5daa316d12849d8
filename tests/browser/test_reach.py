"""The console for people with a keyboard, a small screen, another direction of writing, or colours of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from saga_app.models import Execution
from tests.browser import looking
from tests.browser.tab import Tab
from tests.doors.confirm_page import run_url, verb_url
from tests.doors.world import World

ENOUGH = 400  # stops, on the longest page
WANTED = "#content :is(a[href], button, summary, input, select, textarea):not([tabindex='-1'])"
REACHABLE = """(wanted) => [...document.querySelectorAll(wanted)].filter((one) =>
  one.type !== 'hidden' && !one.disabled && one.checkVisibility({visibilityProperty: true})).length"""
HERE = """(wanted) => {
  const one = document.activeElement, seen = getComputedStyle(one), box = one.getBoundingClientRect();
  one.dataset.met = Number(one.dataset.met ?? 0) + 1;
  return {
    what: one.outerHTML.slice(0, 120),
    ours: one.matches(wanted),
    first: one.dataset.met === '1',
    over: one === document.body && document.querySelector('#content [data-met]') !== null,
    shown: one.matches('input, select, textarea') || seen.boxShadow !== 'none' ||
      (seen.outlineStyle !== 'none' && parseFloat(seen.outlineWidth) >= 1),
    on: box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight,
  };
}"""
CUT_OFF = """() => [...document.querySelectorAll('#content *')].filter((one) => {
  if (one.closest('.saga-scroll, pre, table, svg, .results, select') || !one.checkVisibility()) return false;
  const box = one.getBoundingClientRect();
  return box.width > 1 && (box.right > innerWidth + 1 || box.left < -1);
}).map((one) => one.outerHTML.slice(0, 100))"""
"""What a person would have to scroll sideways for; tables and code have a scroll bar of their own."""


def some(world: World) -> list[str]:
    """The pages that people act on."""
    stuck = world.states["stuck going back"]
    return [
        "/admin/saga_app/execution/",
        run_url(stuck),
        verb_url(stuck, "abandon"),
        f"{verb_url(world.gated, 'approve')}?gate=boss",
        f"/admin/saga_app/operatorbatch/{world.batches['draft'].pk}/change/",
    ]


def test_the_keyboard_reaches_everything(opened: Callable[..., Tab], server: str) -> None:
    """Each link, button and field gets the focus once, in view, and one sees that it has it."""
    world = looking.make()
    tab = opened(world.operator)
    wrong: dict[str, list[Any]] = {}
    for url in some(world):
        page = tab.go(url)
        page.wait_for_selector(".saga-live button")
        there, met = page.evaluate(REACHABLE, WANTED), []
        for _ in range(ENOUGH):  # the site's own links come first
            page.keyboard.press("Tab")
            here = page.evaluate(HERE, WANTED)
            met += [here] if here["ours"] and here["first"] else []
            if here["over"]:
                break
        radios = page.evaluate("() => new Set([...document.querySelectorAll('[type=radio]')].map((r) => r.name)).size")
        radios = page.locator("#content input[type=radio]").count() - radios  # a group is one stop, and arrows go on
        if len(met) != there - radios:
            wrong.setdefault(url, []).append(f"{len(met)} of {there - radios}")
        wrong.setdefault(url, []).extend(one["what"] for one in met if not one["shown"] or not one["on"])
    assert {url: found for url, found in wrong.items() if found} == {}


def test_from_right_to_left(opened: Callable[..., Tab], server: str) -> None:
    """Nothing sticks out, and what the browser calls the beginning is the right."""
    world = looking.make()
    tab = opened(world.operator, locale="ar")
    found = {}
    for name, page in looking.pages(world):
        tab.go(page.url)
        assert tab.page.evaluate("document.documentElement.dir || getComputedStyle(document.body).direction") == "rtl"
        tab.keep(f"rtl-{name}")
        found[name] = tab.too_wide()
    assert {name: by for name, by in found.items() if by > 0} == {}


def test_on_a_small_screen(opened: Callable[..., Tab], server: str) -> None:
    """WCAG 1.4.10: at 320 pixels nothing is lost, and only tables and code are scrolled sideways."""
    world = looking.make()
    tab = opened(world.operator, viewport={"width": 320, "height": 640})
    found: dict[str, Iterable[str]] = {}
    for name, page in looking.pages(world):
        tab.go(page.url)
        tab.keep(f"small-{name}")
        found[name] = tab.page.evaluate(CUT_OFF)
    assert {name: lost for name, lost in found.items() if lost} == {}


def test_names_without_a_blank_in_them(opened: Callable[..., Tab], server: str) -> None:
    """A key may be long; the way back to its list and the page itself stay as wide as the screen."""
    world = looking.make()
    waiting = world.states["waiting"]
    Execution.objects.filter(pk=waiting.pk).update(key="k" * 255)
    tab = opened(world.operator)
    for url in ("/admin/saga_app/execution/", run_url(waiting), verb_url(waiting, "cancel")):
        tab.go(url)
        assert tab.too_wide() <= 0, url


def test_with_colours_of_ones_own(opened: Callable[..., Tab], server: str) -> None:
    """Forced colours: what was told by a background is told by a border or a word, too."""
    world = looking.make()
    tab = opened(world.operator, forced_colors="active")
    for url in some(world):
        page = tab.go(url)
        tab.keep(f"forced-{url.removeprefix('/admin/saga_app/')}")
        for button in page.locator(".saga-button").all():
            drawn = button.evaluate(
                "(one) => getComputedStyle(one).borderTopWidth + getComputedStyle(one).borderTopStyle"
            )
            assert drawn == "1pxsolid", url
        for status in page.locator(".saga-status").all():
            assert status.inner_text().strip(), url
    assert tab.heard() == []


def test_nothing_moves_for_who_wants_it_still(opened: Callable[..., Tab], server: str) -> None:
    """No page of ours has an animation at all."""
    world = looking.make()
    tab = opened(world.operator, reduced_motion="reduce")
    for url in some(world):
        assert tab.go(url).evaluate("document.getAnimations().length") == 0
