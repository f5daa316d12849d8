"""What a page says in words of its own: its text and its labels, without what was stored and is only shown."""

from __future__ import annotations

import re
from html.parser import HTMLParser

STORED = {"bdi", "pre", "code", "time", "script", "style", "title", "svg"}  # a picture's words are a table's, too
STORED_CLASS = "saga-code"
NAMED_BY_STORED = {"bdi", "time"}
AROUND = ("header", "nav-sidebar", "toggle-nav-sidebar")  # the admin of the whole site
CRUMBS = "breadcrumbs"  # its links may be words of the page, or names of what was stored
EMPTY = {"br", "col", "hr", "img", "input", "link", "meta", "wbr"}
LABELS = ("aria-label", "title", "alt", "placeholder", "aria-description")
BUTTONS = ("submit", "button", "reset")
BLOCKS = {"button", "caption", "dd", "div", "dt", "h1", "h2", "h3", "label", "li", "option", "p", "summary", "td", "th"}
INNERMOST = re.compile("⟦[^⟦⟧]*⟧")

Attributes = list[tuple[str, str | None]]


class Reader(HTMLParser):
    """Collects the text between the elements that hold what was stored, and the labels for people who do not see."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.way: list[tuple[str, bool, bool]] = []  # tag, holds what was stored, is a crumb
        self.text: list[str] = []
        self.labels: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        given = {name: value or "" for name, value in attrs}
        classes = given.get("class", "").split()
        crumb = CRUMBS in classes or any(crumb for _, _, crumb in self.way)
        link = crumb and any(tag == "a" for tag, _, _ in self.way)
        stored = (tag in STORED and not link) or STORED_CLASS in classes or given.get("id") in AROUND
        if not self.is_stored and tag not in NAMED_BY_STORED and STORED_CLASS not in classes:
            self.labels += labels(tag, given)
        if tag not in EMPTY:
            self.way.append((tag, stored, crumb))
        self.new_line(tag)

    def handle_endtag(self, tag: str) -> None:
        while any(tag == name for name, _, _ in self.way):
            if self.way.pop()[0] == tag:
                break
        self.new_line(tag)

    def handle_data(self, data: str) -> None:
        self.text.append("" if self.is_stored else data)

    def new_line(self, tag: str) -> None:
        self.text.append("\n" if tag in BLOCKS else "")

    @property
    def is_stored(self) -> bool:
        return any(stored for _, stored, _ in self.way)


def labels(tag: str, given: dict[str, str]) -> list[str]:
    """What an element says without having it as text; also what scripts will say (data-…)."""
    told = [given[name] for name in LABELS if given.get(name)]
    pressed = [given.get("value", "")] if tag == "input" and given.get("type") in BUTTONS else []
    return told + pressed + [value for name, value in given.items() if name.startswith("data-") and " " in value]


def said(html: str) -> str:
    """The page's own words, and its labels."""
    reader = Reader(html)
    return "\n".join(["".join(reader.text), *reader.labels])


def untranslated(html: str) -> list[str]:
    """The lines that are left of it without the texts that were translated, where each stands in ⟦brackets⟧."""
    left = said(html)
    while INNERMOST.search(left):
        left = INNERMOST.sub("", left)
    return [" ".join(line.split()) for line in left.splitlines() if line.strip()]
