"""Redaction in the API: what the console hides, no answer shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client, override_settings

from saga_app import Saga, ref, step, testing
from saga_app.models import Execution
from tests.doors import http
from tests.doors.http import ROOT, one

pytestmark = pytest.mark.django_db
SECRET = "hunter2-xyzzy"


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with testing.isolate_sagas():
        yield


@pytest.fixture
def api() -> Client:
    return http.client("view", "resume", "start")


@step(name="login", provides="session", attempts=1)
def login(given: dict[str, Any]) -> dict[str, Any]:
    return {"user": "anna", "deep": [{"Api-Key": SECRET}], "headers": [["Authorization", SECRET]]}


@step(name="issue", provides="access_token", attempts=1)
def issue() -> str:
    return SECRET


def leaky(name: str = "password") -> Execution:
    return testing.run(Saga("leaky", login, issue, output=ref("access_token")), given={name: SECRET})


def test_what_stands_under_such_a_name_is_hidden(api: Client) -> None:
    execution = leaky()
    said = api.get(one(execution)).json()
    assert said["input"] == {"given": {"password": "[redacted]"}}
    assert said["output"] == "[redacted]", "as a whole: its saga calls it a token"
    assert SECRET not in api.get(ROOT).content.decode()


def test_the_setting_says_which(api: Client) -> None:
    execution = leaky("plain")
    assert api.get(one(execution)).json()["input"] == {"given": {"plain": SECRET}}
    with override_settings(SAGA={"REDACT": ["plain"]}):
        said = api.get(one(execution)).json()
    assert (said["input"], said["output"]) == ({"given": {"plain": "[redacted]"}}, SECRET)


def test_that_there_is_nothing_may_be_shown(api: Client) -> None:
    execution = Saga("leaky", issue, output=ref("access_token")).start()
    assert api.get(one(execution)).json()["output"] is None
