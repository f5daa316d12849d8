"""The console under looks that hosts put over Django's admin: every page is there, with all that is on it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.house.source import ROOT

THEMES = ("unfold", "jazzmin", "grappelli")
FEW = 10  # the least that a page of ours says
pytestmark = pytest.mark.acceptance  # processes of their own, each with its databases


@cache
def rendered(theme: str, folder: Path) -> dict[str, Any]:
    """What each page shows under a theme; under Django's own look without one."""
    variables = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.themes.settings",
        "SAGA_TEST_THEME": theme,
        "SAGA_TEST_DATABASE": "sqlite",
        **{f"SAGA_TEST_{name}_NAME": str(folder / f"{name}{theme}.sqlite3") for name in ("DB", "OUTSIDE", "OTHER")},
    }
    command = [sys.executable, "-W", "ignore", "-m", "tests.themes.render"]
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    pages: dict[str, Any] = json.loads(done.stdout)
    return pages


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("themes")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("theme", THEMES)
def test_the_console_is_whole_under_a_theme(theme: str, folder: Path) -> None:
    """Each page is there, and says all that it says under Django's own look: headings, tables, buttons, forms."""
    if not find_spec(theme):
        pytest.skip(f"{theme} is not installed")
    own, other = rendered("", folder), rendered(theme, folder)
    assert {name: page["status"] for name, page in other.items() if page["status"] != 200} == {}
    assert own.keys() == other.keys()
    assert all(len(page["ours"]) > FEW for name, page in own.items() if "history" not in name)
    lost = {name: set(page["ours"]) - set(other[name]["all"]) for name, page in own.items()}
    assert {name: texts for name, texts in lost.items() if texts} == {}
