"""The host's REST_FRAMEWORK setting neither changes the API nor is changed by it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from django.test import override_settings

from saga_app import testing
from saga_app.api.base import SagaViewSet
from saga_app.api.urls import urlpatterns
from tests.doors import http
from tests.doors.http import ROOT, is_problem, one, post

# Every policy of a view but authentication, which stays the host's.
POLICIES = {
    "permission_classes",
    "throttle_classes",
    "parser_classes",
    "renderer_classes",
    "content_negotiation_class",
    "filter_backends",
    "pagination_class",
    "versioning_class",
    "metadata_class",
    "get_exception_handler",
}
STRANGE = {
    "DATETIME_FORMAT": "%d.%m.%y",
    "COERCE_DECIMAL_TO_STRING": False,
    "UNICODE_JSON": True,
    "NON_FIELD_ERRORS_KEY": "saga",
    "EXCEPTION_HANDLER": "tests.nowhere.handler",
    "UNAUTHENTICATED_USER": None,
    "PAGE_SIZE": 1,
    "ORDERING_PARAM": "saga",
    "STRICT_JSON": False,
}


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with testing.isolate_sagas():
        yield


def test_every_policy_is_set_on_our_own_views():
    assert vars(SagaViewSet).keys() >= POLICIES
    for pattern in urlpatterns:
        view = pattern.callback.cls
        assert issubclass(view, SagaViewSet)
        assert not vars(view).keys() & (POLICIES | {"authentication_classes"})
    assert "authentication_classes" not in vars(SagaViewSet)


@pytest.mark.django_db
def test_settings_that_are_read_late_change_nothing():
    execution, by = http.stuck(), http.client("view", "start")
    http.buy()
    plain = by.get(one(execution)).content, post(by, ROOT, b"[]").json()
    with override_settings(REST_FRAMEWORK=STRANGE):
        assert (by.get(one(execution)).content, post(by, ROOT, b"[]").json()) == plain
        is_problem(post(by, ROOT, b'{"saga": "buy", "input": {"sku": NaN}}'), 400, "parse_error")
        is_problem(type(by)().get(ROOT), 403, "not_authenticated")


def test_settings_that_are_read_once_change_nothing_and_stay():
    """In a process of its own: class attributes of the framework are read when it is imported."""
    code = f"""
import json
from django.conf import settings
settings.REST_FRAMEWORK = {{
    **{STRANGE!r},
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.BrowsableAPIRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.FormParser"],
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.PageNumberPagination",
    "DEFAULT_VERSIONING_CLASS": "rest_framework.versioning.AcceptHeaderVersioning",
    "ALLOWED_VERSIONS": ["9"], "DEFAULT_VERSION": "8",
    "DEFAULT_THROTTLE_CLASSES": ["rest_framework.throttling.AnonRateThrottle"],
    "DEFAULT_THROTTLE_RATES": {{"anon": "0/day"}},
    "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.BasicAuthentication"],
}}
before = json.dumps(settings.REST_FRAMEWORK)
import django
django.setup()
from django.test import Client
response = Client().get({ROOT!r})
from rest_framework.views import APIView
print(json.dumps([
    response.status_code, response["Content-Type"], response["WWW-Authenticate"],
    json.dumps(settings.REST_FRAMEWORK) == before,
    [cls.__name__ for cls in APIView.permission_classes], [cls.__name__ for cls in APIView.renderer_classes],
]))
"""
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    said = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    status, content_type, challenge, same, permissions, renderers = json.loads(said.stdout.splitlines()[-1])
    assert (status, content_type) == (401, http.PROBLEM)
    assert challenge.startswith("Basic"), "who may authenticate, and how, is the host's"
    assert (same, permissions, renderers) == (True, ["AllowAny"], ["BrowsableAPIRenderer"])


def test_the_app_works_without_the_framework():
    """The API is an extra: nothing else of the package imports it."""
    code = """
import sys
sys.modules["rest_framework"] = None
from django.conf import settings
settings.INSTALLED_APPS = [app for app in settings.INSTALLED_APPS if app != "rest_framework"]
settings.ROOT_URLCONF = "django.contrib.staticfiles.urls"
import django
django.setup()
import saga_app.engine, saga_app.testing, saga_app.admin, saga_app.management.commands.saga
"""
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
