"""What the browser tests need: a Chromium, a live server under a strict policy, and somebody who is signed in.

Playwright's plain interface keeps an event loop in this thread while it waits, and Django refuses to read its database
where it sees one. Nothing runs at the same time as a test here, so it is told not to.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.test import Client
from django.test.testcases import LiveServerThread
from playwright.sync_api import Browser, sync_playwright

from saga_app.core import registry
from tests.browser.tab import Tab

HERE = Path(__file__).parent
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """They all need a Chromium, and are skipped where there is none."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.timeout(600))
            item.add_marker(pytest.mark.django_db(transaction=True, databases=["default", "outside", "other"]))
            if not CHROMIUM:
                item.add_marker(pytest.mark.skip(reason="no chromium on this machine"))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser for a file of tests. It goes before other tests come: they have no event loop around them."""
    before = os.environ.get("DJANGO_ALLOW_ASYNC_UNSAFE")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        yield browser
        browser.close()
    if before is None:
        del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def policy(settings) -> None:
    """The host sends a strict policy."""
    settings.MIDDLEWARE = ["tests.browser.policy.strict", *settings.MIDDLEWARE]


@pytest.fixture
def server(policy: None, db: None) -> Iterator[str]:
    """The address of the test site, served from the database of the test."""
    thread = LiveServerThread("127.0.0.1", StaticFilesHandler, connections_override={})
    thread.daemon = True
    thread.start()
    thread.is_ready.wait()
    if thread.error:
        raise thread.error
    with registry.isolate():
        yield f"http://127.0.0.1:{thread.port}"
    thread.terminate()


@pytest.fixture
def opened(chromium: Browser, server: str) -> Iterator[Callable[..., Tab]]:
    """Opens a tab for a user (None: signed out), with any of Playwright's options for a context."""
    tabs: list[Tab] = []

    def open_tab(user: User | None, **options: object) -> Tab:
        tab = Tab(chromium, server, session_of(user), **options)
        tabs.append(tab)
        return tab

    yield open_tab
    for tab in tabs:
        tab.close()


def session_of(user: User | None) -> str:
    if user is None:
        return ""
    client = Client()
    client.force_login(user)
    return client.cookies["sessionid"].value
