"""The test site under another look: SAGA_TEST_THEME names the app that stands before Django's admin."""

from __future__ import annotations

import os

from tests.settings import *  # noqa: F403

THEME = os.environ.get("SAGA_TEST_THEME", "")
INSTALLED_APPS = [*([THEME] if THEME else []), *INSTALLED_APPS]  # noqa: F405
ROOT_URLCONF = "tests.themes.urls"
