"""A process of its own: makes a world, opens every page of the console under the theme, and prints what is on them."""

from __future__ import annotations

import json
import re
import sys
from html.parser import HTMLParser
from typing import Any

import django

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
OWN = re.compile(
    r"[0-9a-f]{8}-[0-9a-f-]{27}|\u2026[0-9a-f]{12}|[\d.]+"
)  # ids, moments and lengths: each process has its own


class Content(HTMLParser):
    """What is on a page.

    Attributes:
        ours: what the console says, in elements of its own and above the columns of its lists.
        all: whatever is said.
    """

    def __init__(self, page: str) -> None:
        super().__init__()
        self.ours: set[str] = set()
        self.all: set[str] = set()
        self._open: list[tuple[str, bool]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        name = f" {values.get('class') or ''} {values.get('id') or ''}"
        if tag not in VOID:
            self._open.append((tag, " saga-" in name or " column-" in name))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        said = " ".join(OWN.sub("0", data).split()).casefold()
        if said:
            self.all.add(said)
            self.ours |= {said} if any(ours for _, ours in self._open) else set()


def main() -> dict[str, Any]:
    """Status and content of each page, by the name and number of its address."""
    django.setup()
    from django.core.management import call_command
    from django.test import Client

    from saga_app.core import registry
    from tests.browser import looking

    for database in ("default", "outside", "other"):
        call_command("migrate", database=database, verbosity=0)
    with registry.isolate():
        world = looking.make()
        client = Client()
        client.force_login(world.operator)
        found = {}
        for name, page in looking.pages(world):
            answer = client.get(page.url, follow=True)
            content = Content(answer.content.decode())
            found[name] = {"status": answer.status_code, "ours": sorted(content.ours), "all": sorted(content.all)}
    return found


if __name__ == "__main__":
    json.dump(main(), sys.stdout)
