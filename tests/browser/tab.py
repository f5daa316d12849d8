"""One tab of a real browser: goes to pages of the test site, and writes down whatever the browser complains about."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, ViewportSize

LISTENS = """
addEventListener("securitypolicyviolation", (event) =>
  console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
"""
WIDE: ViewportSize = {"width": 1280, "height": 900}
GRAVE = ("serious", "critical")
DJANGOS = {"exclude": [".breadcrumbs", "#searchbar", "#user-tools"]}  # links without a line, a label that is a picture
COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"]}


class Tab:
    """A tab.

    Attributes:
        page: Playwright's own.
        complaints: errors and warnings of the browser, violations of the policy, dialogs, and failed loads.
    """

    def __init__(self, browser: Browser, server: str, session: str, **options: Any) -> None:
        self.server = server
        self.context = browser.new_context(**{"viewport": WIDE, **options})
        self.context.add_init_script(LISTENS)
        if session:
            self.context.add_cookies([{"name": "sessionid", "value": session, "url": server}])
        self.complaints: list[str] = []
        self.page: Page = self.context.new_page()
        self.page.on("console", lambda said: self._hear(said.type, said.text, said.location["url"]))
        self.page.on("pageerror", lambda error: self._hear("error", str(error)))
        self.page.on("dialog", lambda dialog: (self._hear("error", f"dialog: {dialog.message}"), dialog.dismiss()))

    def _hear(self, kind: str, text: str, url: str = "") -> None:
        if kind in ("error", "warning") and not url.endswith("/favicon.ico"):  # the browser's own wish
            self.complaints.append(text[:300])

    def go(self, path: str) -> Page:
        """Open a page of the site."""
        self.page.goto(self.server + path, wait_until="load")
        return self.page

    def heard(self) -> list[str]:
        """What the browser complained about since it was asked last."""
        self.page.wait_for_timeout(30)  # complaints come a moment after the page
        heard, self.complaints = self.complaints, []
        return heard

    def barriers(self, *, colours: bool = False) -> list[str]:
        """What axe finds that keeps people out, where, and why; of the colours only, or of everything."""
        found = Axe().run(self.page, context=DJANGOS, options=COLOURS if colours else None).response["violations"]
        return [
            f"{one['id']} {' '.join(map(str, node['target']))}: {''.join(node['failureSummary'].splitlines()[1:2])}"
            for one in found
            if one["impact"] in GRAVE
            for node in one["nodes"]
        ]

    def too_wide(self) -> int:
        """By how many pixels the page can be scrolled sideways."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))

    def keep(self, name: str) -> None:
        """Keep a picture of the page where somebody wants to look at them: in the folder SAGA_SHOTS."""
        if folder := os.environ.get("SAGA_SHOTS"):
            file = Path(folder, re.sub(r"[^\w.-]+", "-", name)[:120] + ".png")
            file.parent.mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=file, full_page=True)

    def close(self) -> None:
        self.context.close()
