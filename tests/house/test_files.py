"""Files are small, say first why they exist, and speak of the project alone."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.house import source

CEILING = 300
HERE = source.name(Path(__file__))
TEXT = {".cfg", ".css", ".csv", ".editorconfig", ".html", ".js", ".md", ".po", ".py", ".sh", ".sql", ".toml", ".txt"}

FORBIDDEN = {
    "unfinished work": re.compile(r"\b(TODO|FIXME|XXX|HACK)\b"),
    "a place on somebody's machine": re.compile(r"(?<![\w.:/*)])/(tmp|work|root|home|Users|opt)/[\w.]"),
    "the address of a package registry": re.compile(r"pypi\.org|pythonhosted|registry\.npmjs|deb\.debian"),
}


def test_no_file_is_too_long() -> None:
    """A file that needs more than 300 lines is two files."""
    files = [path for path in source.files(".py", ".html", ".js") if path.parent.name != "migrations"]  # Django's own
    lengths = {source.name(path): len(path.read_text().splitlines()) for path in files}
    assert {name: lines for name, lines in lengths.items() if lines > CEILING} == {}


def test_every_file_begins_with_its_reason() -> None:
    """The first line of a Python file is a docstring of one sentence or more."""
    assert [source.name(path) for path in source.modules(under=source.ROOT) if not begins_well(path)] == []


def begins_well(path: Path) -> bool:
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#!")]
    if not lines:
        return path.name == "__init__.py"
    return lines[0].startswith('"""') and bool((ast.get_docstring(source.tree(path)) or "").strip())


@pytest.mark.parametrize("what", FORBIDDEN)
def test_nothing_is_said_that_others_cannot_use(what: str) -> None:
    """No unfinished work, no paths of one machine, no address of a registry."""
    found = [
        (source.name(path), number, line.strip())
        for path in source.tracked()
        if is_text(path) and source.name(path) != HERE
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if FORBIDDEN[what].search(line)
    ]
    assert found == []


def is_text(path: Path) -> bool:
    return path.is_file() and (path.suffix in TEXT or path.name in ("Makefile", "run", "LICENSE"))
