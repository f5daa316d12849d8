"""The table in docs/hazards.md says what the tests say: no test is named that is not there, and no id is left out."""

from __future__ import annotations

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parent.parent
TABLE = TESTS.parent / "docs" / "hazards.md"
ID = re.compile(r"Hazard ([ABR]\d+)\b")


def table() -> dict[str, str]:
    """Id → what proves it."""
    rows = re.findall(r"^\| ([ABR]\d+) \| (.+) \|$", TABLE.read_text(encoding="utf-8"), re.MULTILINE)
    found = dict(rows)
    assert len(found) == len(rows), "an id stands there twice"
    return found


def said() -> dict[str, set[str]]:
    """Id → the names of the tests whose docstrings have it."""
    found: dict[str, set[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                for one in ID.findall(ast.get_docstring(node) or ""):
                    found.setdefault(one, set()).add(node.name)
    return found


def test_every_test_that_is_named_is_there() -> None:
    """A test that was renamed is renamed in the table too."""
    for hazard, text in table().items():
        for file, name in re.findall(r"`([\w/]+\.py)`(?: (\w+))?", text):
            source = (TESTS / file).read_text(encoding="utf-8")
            assert not name or f"def {name}(" in source, hazard


def test_every_id_that_a_test_names_is_in_the_table() -> None:
    """With one of the tests that name it; so nothing that is proved is said to wait for something."""
    proofs = table()
    missing = {one: names for one, names in said().items() if not any(name in proofs.get(one, "") for name in names)}
    assert missing == {}
