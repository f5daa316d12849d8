"""The site that the tests run on. SAGA_TEST_DATABASE says which database: sqlite (the default) or postgres.

Beside "default" there are two SQLite files: "outside", which no saga transaction reaches, so that what is noted there
stays noted, and "other", a second database of the host site. Other processes of one test run are told by the
environment which databases to open (tests/processes.py).
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from project.databases import database

# One folder per test run. The variable hands it to the processes which that run starts.
SCRATCH = Path(os.environ.setdefault("SAGA_TEST_DIR", str(Path(tempfile.gettempdir()) / f"saga-tests-{os.getpid()}")))
ENGINE = os.environ.get("SAGA_TEST_DATABASE", "sqlite")


def sqlite(name: str) -> dict[str, object]:
    """A file with the options that the README asks for: writers queue up instead of failing at once."""
    file = os.environ.get(f"SAGA_TEST_{name.upper()}_NAME", str(SCRATCH / f"{name}.sqlite3"))
    return {**database(f"sqlite:///{file}"), "TEST": {"NAME": str(SCRATCH / f"test-{name}.sqlite3")}}


def postgres() -> dict[str, object]:
    address = os.environ.get("DATABASE_URL")
    if not address:
        raise RuntimeError("DATABASE_URL is not set: run `python -m tests.run --only postgres`, which starts a server")
    options = database(address)
    return {**options, "NAME": os.environ.get("SAGA_TEST_DB_NAME", options["NAME"])}


def default() -> dict[str, object]:
    if ENGINE == "postgres":
        return postgres()
    if ENGINE == "sqlite":
        return sqlite("db")
    raise RuntimeError(f"SAGA_TEST_DATABASE is {ENGINE!r}; it may be sqlite or postgres")


DATABASES = {"default": default(), "outside": sqlite("outside"), "other": sqlite("other")}
DATABASE_ROUTERS = ["tests.site.routers.Tables"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

SECRET_KEY = "a key for tests"
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "tests.urls"
STATIC_URL = "static/"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # quick, and nobody to protect

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "django_q",
    "saga_app",
    "project.shop",
    "tests.site",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [Path(__file__).parent.parent / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# django-q2 reads its settings once, at import: a test that wants others starts a process with SAGA_TEST_Q_CLUSTER.
Q_CLUSTER = {
    "name": "tests",
    "broker_class": "saga_app.queue.broker.OrmBroker",
    "orm": "default",
    "workers": 2,
    "queue_limit": 2,
    "timeout": 60,
    "retry": 120,
    "save_limit": -1,
    "log_level": "WARNING",
    "ALT_CLUSTERS": {"labels": {"workers": 1, "queue_limit": 1}},  # a queue of the demo shop
    **json.loads(os.environ.get("SAGA_TEST_Q_CLUSTER", "{}")),
}
SAGA = json.loads(os.environ.get("SAGA_TEST_SAGA", "{}"))

# The demo shop is on the test site too; its tests give each test a ledger of its own.
OUTSIDE_LEDGER = SCRATCH / "shop.sqlite3"
OUTSIDE_LATENCY = 0.0
MAILERS = {"default": {"BACKEND": "django.core.mail.backends.locmem.EmailBackend"}}  # Django 6.1 has no default
