"""Cases about what a site chooses once, before anything is imported: each in a process with settings of its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.processes import Processes, environment

HERE = Path(__file__).parent
SETTINGS = "tests.acceptance.own_users.settings"


def ends_well(children: Processes, *arguments: str, **variables: str) -> str:
    """Run python with the settings of that site; what it printed."""
    child = children.start(*arguments, env=environment(DJANGO_SETTINGS_MODULE=SETTINGS, **variables))
    code = child.wait(timeout=100)
    assert code == 0, children.output(child)
    return children.output(child)


@pytest.mark.parametrize("keys", ["AutoField", "BigAutoField", "SmallAutoField"])
def test_c47_the_app_has_its_own_key_type(children: Processes, keys: str) -> None:
    """Case C47. A new migration inside the package, whenever the project's default differs."""
    chosen = {"OWN_USERS_KEYS": f"django.db.models.{keys}"}
    said = ends_well(children, "-m", "django", "makemigrations", "saga_app", "--check", "--dry-run", **chosen)
    assert "No changes detected" in said


def test_c47_users_have_what_the_site_gives_them(children: Processes) -> None:
    """Case C47. Own user model, with a UUID key and no username; told in own_users/story.py, migrations included."""
    story = os.fspath(HERE / "own_users" / "story.py")
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", f"--ds={SETTINGS}", story]
    said = ends_well(children, *command, SAGA_TEST_DIR=os.fspath(children.folder / "site"))
    assert "1 passed" in said
