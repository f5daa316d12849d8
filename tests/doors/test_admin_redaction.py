"""Redaction on the run page: nothing shows under a name that hides it, whole or cut off, now or at a past moment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client, override_settings

from saga_app import Approval, Saga, Wait, ref, step, testing
from saga_app.core import registry
from saga_app.models import Execution
from saga_app.store import events
from saga_app.store.transactions import alias
from tests.doors import every_state
from tests.doors.test_admin_run import html

pytestmark = pytest.mark.django_db
SECRET = "hunter2-xyzzy"


@pytest.fixture(autouse=True)
def own_sagas() -> Iterator[None]:
    testing.clock.release()
    with registry.isolate():
        yield


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    return client


def leaky(name: str, **more: Any) -> Execution:
    @step(name="login", provides="session", attempts=1)
    def login(given: dict[str, Any]) -> dict[str, Any]:
        return {"user": "anna", "deep": [{"Api-Key": SECRET}], "headers": [["Authorization", SECRET]]}

    @step(name="issue", provides="access_token", attempts=1)
    def issue() -> str:
        return SECRET

    execution = testing.run(Saga("leaky", login, issue, Wait("auth_token")), given={name: SECRET, **more})
    return execution.signal("auth_token", {"plain": SECRET} if name != "password" else SECRET)


def test_what_stands_under_such_a_name_is_hidden(root: Client) -> None:
    execution = leaky("password")
    for query in ("", "?moment=4"):
        page = html(root, execution, query)
        assert SECRET not in page and "[redacted]" in page
    assert "anna" in html(root, execution)
    assert SECRET not in root.get(f"/admin/saga_app/execution/{execution.pk}/json/").getvalue().decode()


def test_a_long_value_is_hidden_too(root: Client) -> None:
    """Only its beginning is read, and no beginning of JSON text can be read as JSON."""
    execution = leaky("password", padding="x" * 9000)
    page = html(root, execution)
    assert SECRET not in page and "the beginning of" in page and "xxxxxxxx" in page


def test_a_long_secret_is_hidden_too(root: Client) -> None:
    """Even where the value is cut off in its midst."""
    assert SECRET not in html(root, leaky("password", inner={"old_password": SECRET * 1000}))


def test_the_setting_says_which(root: Client) -> None:
    execution = leaky("plain")
    assert SECRET in html(root, execution)
    with override_settings(SAGA={"REDACT": ["given", "plain", "session", "token"]}):
        assert SECRET not in html(root, execution)


def test_an_event_is_hidden_like_any_value(root: Client) -> None:
    execution = every_state.make("failed")
    events.late_result(execution.pk, alias(), {"path": "ship", "token": SECRET})
    events.append(execution.pk, "signal", alias(), data={"name": "x", "secret": SECRET})
    assert SECRET not in html(root, execution)


def token_saga(*after: Any) -> Execution:
    @step(name="issue", provides="access_token", attempts=1)
    def issue() -> str:
        return SECRET

    return testing.run(Saga("tokens", issue, *after, output=ref("access_token")))


def test_the_output_of_an_execution_is_hidden_under_the_name_that_its_saga_calls_it_by(root: Client) -> None:
    execution = token_saga()
    page = html(root, execution)
    assert execution.output == SECRET
    assert SECRET not in page and page.count("[redacted]") > 1
    assert SECRET not in root.get(f"/admin/saga_app/execution/{execution.pk}/json/").getvalue().decode()


def test_who_decides_sees_no_more_than_who_looks(root: Client) -> None:
    """What was done so far stands on the page of a decision, too."""
    execution = token_saga(Approval("boss", allow=lambda actor: True))
    page = root.get(f"/admin/saga_app/execution/{execution.pk}/verb/approve/?gate=boss").content.decode()
    assert "Done so far" in page and SECRET not in page
