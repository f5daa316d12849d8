"""Three nights of an operator, in a real Chromium on the running demo: what is stuck is found, mended, on record."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.conftest import CHROMIUM, SWITCHES
from tests.browser.tab import Tab
from tests.processes import ROOT
from tests.settings import ENGINE
from tests.shop.test_demo import environment, free_port

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(300),
    pytest.mark.skipif(ENGINE != "sqlite", reason="the demo brings its own database"),
    pytest.mark.skipif(not CHROMIUM, reason="no chromium on this machine"),
]
SOON = 60_000.0  # milliseconds for a worker on a busy machine
expect.set_options(timeout=SOON)
DELETED = "from django.contrib.auth.models import User; User.objects.get(username='operator').delete()"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def site(folder: Path) -> Iterator[str]:
    """The address of a demo that has placed all it shows."""
    port = free_port()
    command = [sys.executable, "manage.py", "demo", "--port", str(port)]
    with (folder / "output").open("w+") as output:
        demo = subprocess.Popen(command, cwd=ROOT, env=environment(folder), stdout=output, stderr=output)
        try:
            deadline = time.monotonic() + 150
            while "Ctrl-C stops" not in (said := (folder / "output").read_text()):
                assert demo.poll() is None, said
                assert time.monotonic() < deadline, said
                time.sleep(0.2)
            yield f"http://127.0.0.1:{port}"
        finally:
            demo.send_signal(signal.SIGINT)
            demo.wait(60)


@pytest.fixture
def tab(chromium: Browser, site: str) -> Iterator[Tab]:
    tab = Tab(chromium, site, "")
    tab.page.set_default_timeout(SOON)
    yield tab
    tab.close()


def sign_in(tab: Tab, name: str) -> Page:
    """As that person, at the overview."""
    tab.context.clear_cookies()
    page = tab.go("/admin/login/?next=/admin/saga_app/overview/")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill("operator")
    page.get_by_role("button", name="Log in").click()
    return page


def test_a_refund_refuses(tab: Tab) -> None:
    """Found by its cause; the bank mended; one is resumed first; it goes well, and the others follow."""
    page = sign_in(tab, "operator")
    tab.keep("story 1, 1 the overview")
    page.get_by_role("link", name=re.compile("the bank refuses to refund")).click()
    tab.keep("story 1, 2 the cause")
    expect(page.locator("#saga-cause-group")).to_contain_text("Executions")
    group = page.url

    tab.go("/").get_by_role("button", name="for all orders").click()
    expect(page.get_by_role("status").first).to_contain_text("work again")

    page.goto(group)
    page.get_by_role("button", name="Resume one first").click()
    tab.keep("story 1, 3 what would be done")
    page.get_by_label("Reason").fill("the bank says that refunds work again")
    page.get_by_role("button", name="Begin").click()
    the_rest = page.get_by_role("button", name="Go on with the rest")
    the_rest.wait_for()  # without a reload: the page looks by itself
    tab.keep("story 1, 4 one is through")
    expect(page.locator(".saga-items .saga-status-failed")).to_have_count(1)
    the_rest.click()
    expect(page.locator("#saga-batch")).to_contain_text("3 of 3")
    expect(page.locator(".saga-items .saga-status-failed")).to_have_count(3)  # failed as orders, and rolled back
    tab.keep("story 1, 5 all are through")

    page.goto(group)
    expect(page.get_by_role("heading", level=1)).to_contain_text("Nothing is stuck of this cause")
    page.goto(tab.server + "/admin/saga_app/overview/")
    expect(page.locator("#content")).not_to_contain_text("the bank refuses")
    assert not tab.heard()


def test_an_inbox_of_approvals(tab: Tab) -> None:
    """Who took a return in may not approve it: it is in the inbox of the other one. What waits for me is not much."""
    page = sign_in(tab, "operator")
    page.get_by_role("link", name=re.compile("approval waits for you|approvals wait for you")).click()
    tab.keep("story 2, 1 the inbox")
    rows = page.locator("#result_list tbody tr")
    expect(rows).to_have_count(1)
    rows.get_by_role("link", name=re.compile("Approve")).click()
    tab.keep("story 2, 2 what is decided about")
    page.get_by_label("restock").select_option("true")
    page.get_by_label("Reason").fill("two kettles came back whole")
    page.get_by_role("button", name="Approve").click()
    expect(page.locator("#content-main")).to_contain_text("two kettles came back whole")
    tab.keep("story 2, 3 it goes on")

    page = sign_in(tab, "clerk")
    tab.go("/admin/saga_app/waitingapproval/")
    expect(rows).to_have_count(1)
    rows.get_by_role("link", name=re.compile("Reject")).click()
    page.get_by_label("Reason").fill("the tin was dented before")
    page.get_by_role("button", name="Reject").click()
    expect(page.locator("#content-main")).to_contain_text("the tin was dented before")
    tab.go("/admin/saga_app/waitingapproval/")
    expect(rows).to_have_count(0)
    tab.keep("story 2, 4 nothing is left to decide")
    assert not tab.heard()


def test_what_was_abandoned_is_on_record(tab: Tab, folder: Path) -> None:
    """With its reason, and the name of who did it: also after that user was deleted."""
    page = sign_in(tab, "operator")
    tab.go("/admin/saga_app/stuckexecution/")
    page.locator("#result_list tbody tr", has_text="place-order").locator("th a").first.click()
    execution = page.url
    page.get_by_role("link", name=re.compile("Abandon")).click()
    tab.keep("story 3, 1 before it is abandoned")
    page.get_by_role("button", name="Abandon").click()
    expect(page.locator(".errorlist").first).to_be_visible()  # a reason is asked for
    page.get_by_label("Reason").fill("the parcel went by another carrier")
    page.get_by_role("button", name="Abandon").click()
    expect(page.locator("#content-main")).to_contain_text("the parcel went by another carrier")
    tab.keep("story 3, 2 abandoned")

    shell = [sys.executable, "manage.py", "shell", "-v", "0", "-c", DELETED]
    subprocess.run(shell, cwd=ROOT, env=environment(folder), check=True, capture_output=True)
    sign_in(tab, "clerk")
    page.goto(execution)
    line = page.locator("section", has_text="History").locator("tr", has_text="abandon")
    expect(line).to_contain_text("operator")
    expect(line).to_contain_text("the parcel went by another carrier")
    tab.keep("story 3, 3 the record, when the operator is gone")
    assert not tab.heard()
