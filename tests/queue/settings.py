"""The test site with an app that has sagas and ordinary tasks for real clusters."""

from __future__ import annotations

import os

from tests.settings import *  # noqa: F403
from tests.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.queue.works"]
SECRET_KEY = os.environ.get("SAGA_TEST_SECRET_KEY", "a key for tests")
