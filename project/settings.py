"""Settings of the host site. Everything that differs from one machine to the next comes from the environment."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import django

from project.databases import database

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(os.environ.get("SHOP_DATA", BASE_DIR / "var"))
DATA_DIR.mkdir(parents=True, exist_ok=True)

DEBUG = os.environ.get("DEBUG", "1") == "1"
SECRET_KEY = os.environ.get("SECRET_KEY", "the-demo-shop-guards-nothing-but-play-money")
ALLOWED_HOSTS = os.environ.get("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]").split(",")

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_q",
    "saga_app",
    "project.shop",
]
if find_spec("rest_framework"):  # the API is an extra: the site works without it
    INSTALLED_APPS.append("rest_framework")

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
if django.VERSION >= (6, 0):
    MIDDLEWARE.insert(1, "django.middleware.csp.ContentSecurityPolicyMiddleware")
SECURE_CSP = {
    "default-src": ["'self'"],
    "base-uri": ["'none'"],
    "form-action": ["'self'"],
    "frame-ancestors": ["'none'"],
    "object-src": ["'none'"],
}

ROOT_URLCONF = "project.urls"
WSGI_APPLICATION = "project.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
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
STATIC_URL = "static/"

DATABASES = {"default": database(os.environ.get("DATABASE_URL") or f"sqlite:///{DATA_DIR / 'shop.sqlite3'}")}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("de", "Deutsch"), ("fr", "Français")]  # each browser is shown its own
TIME_ZONE = "UTC"
USE_TZ = True

MAIL_DIR = DATA_DIR / "mail"
if django.VERSION >= (6, 1):
    MAILERS = {
        "default": {
            "BACKEND": "django.core.mail.backends.filebased.EmailBackend",
            "OPTIONS": {"file_path": MAIL_DIR},
        },
    }
else:
    EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
    EMAIL_FILE_PATH = MAIL_DIR
DEFAULT_FROM_EMAIL = "Kettle & Crate <shop@kettle.example>"

# The queue: django-q2 asks our broker, and our broker asks the table.
Q_CLUSTER = {
    "name": "saga",
    "label": "Django Q",
    "orm": "default",
    "broker_class": "saga_app.queue.broker.OrmBroker",
    "workers": 2,
    "queue_limit": 2,
    "poll": 0.2,
    "timeout": 300,
    "retry": 420,
    "save_limit": -1,
    "ack_failures": True,
    "max_attempts": 1,
    "catch_up": False,
    # Labels are printed by the workers beside the printer: `Q_CLUSTER_NAME=labels manage.py qcluster`.
    "ALT_CLUSTERS": {"labels": {"workers": 1, "queue_limit": 1}},
}
SAGA = {
    "LEASE": float(os.environ.get("SAGA_LEASE", "30")),
    "HARD_STOP_GRACE": float(os.environ.get("SAGA_HARD_STOP_GRACE", "5")),
}

# The world outside: bank, warehouse and suppliers keep their own books in their own file, beyond our transactions.
OUTSIDE_LEDGER = DATA_DIR / "outside.sqlite3"
OUTSIDE_LATENCY = float(os.environ.get("OUTSIDE_LATENCY", "0"))  # seconds a call may take, at most
SHOP_DAY = float(os.environ.get("SHOP_DAY", "120"))  # seconds: this shop is there to be watched, and nobody waits a day
