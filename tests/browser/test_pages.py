"""Every page of the console in a real browser: nothing that a strict policy forbids, nothing that keeps people out."""

from __future__ import annotations

from collections.abc import Callable

import django
import pytest

from tests.browser import looking
from tests.browser.tab import Tab
from tests.doors import world as worlds


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_well(opened: Callable[..., Tab], server: str, scheme: str) -> None:
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


def test_hostile_text_does_nothing(opened: Callable[..., Tab], server: str) -> None:
    """In every stored column: no dialog, no request for a picture that is none, no violation, no error."""
    world = looking.make()
    found = list(looking.pages(world))
    worlds.poison()
    tab = opened(world.operator)
    wrong: dict[str, list[str]] = {}
    for name, page in found:
        answer = tab.page.goto(tab.server + page.url)
        assert answer is not None
        heard = tab.heard()
        if answer.status != 404:  # its gate, or its cause, is called otherwise now
            wrong[name] = heard
    assert {name: heard for name, heard in wrong.items() if heard} == {}


@pytest.mark.skipif(django.VERSION < (6, 1), reason="Django's own admin knows nonces from 6.1 on")
def test_a_policy_of_nonces(settings, request: pytest.FixtureRequest) -> None:
    """Scripts and styles that have the nonce of the page, and no others."""
    from django.utils.csp import CSP

    settings.MIDDLEWARE = ["django.middleware.csp.ContentSecurityPolicyMiddleware", *settings.MIDDLEWARE]
    settings.SECURE_CSP = {
        "default-src": [CSP.SELF],
        "script-src": [CSP.NONCE, CSP.STRICT_DYNAMIC],
        "style-src": [CSP.NONCE],
        "object-src": [CSP.NONE],
        "base-uri": [CSP.NONE],
    }
    (engine,) = settings.TEMPLATES
    processors = [*engine["OPTIONS"]["context_processors"], "django.template.context_processors.csp"]
    settings.TEMPLATES = [{**engine, "OPTIONS": {"context_processors": processors}}]
    opened = request.getfixturevalue("opened")
    world = looking.make()
    tab = opened(world.operator)
    wrong = {}
    for name, page in looking.pages(world):
        answer = tab.page.goto(tab.server + page.url)
        assert answer is not None
        assert "'nonce-" in answer.headers["content-security-policy"]
        wrong[name] = tab.heard()
    assert {name: heard for name, heard in wrong.items() if heard} == {}
