"""The test site with a user model of its own, and with keys of the type that OWN_USERS_KEYS names."""

from __future__ import annotations

import os

from tests.settings import *  # noqa: F403 - the same site otherwise
from tests.settings import DATABASES, INSTALLED_APPS, SCRATCH

AUTH_USER_MODEL = "own_users.EmailUser"
DEFAULT_AUTO_FIELD = os.environ.get("OWN_USERS_KEYS", "django.db.models.BigAutoField")
INSTALLED_APPS = [*INSTALLED_APPS, "tests.acceptance.own_users"]

for alias, database in DATABASES.items():  # beside those of the test that starts this
    postgres = "postgresql" in str(database["ENGINE"])
    database["TEST"] = {"NAME": "test_own_users" if postgres else str(SCRATCH / f"own-users-{alias}.sqlite3")}
