"""The floors of the house: who may import whom (the contracts stand in pyproject.toml)."""

from __future__ import annotations

import subprocess
import sys

from tests.house.source import ROOT

BARE = """
import sys
import saga_app
loaded = [name for name in sys.modules if name.split(".")[0] in ("django", "django_q", "rest_framework")]
assert not loaded, loaded
"""


def test_contracts_are_kept() -> None:
    """Downward only, the core pure, django-q2 and the REST framework each in its own room, no cycles."""
    lint = "from importlinter.cli import lint_imports_command; lint_imports_command(['--no-cache'])"
    checked = subprocess.run([sys.executable, "-c", lint], cwd=ROOT, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_words_for_writing_sagas_need_no_django() -> None:
    """`import saga_app` works before django.setup(), and brings no part of Django along."""
    done = subprocess.run([sys.executable, "-c", BARE], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
