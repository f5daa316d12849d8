"""What users of other consoles met: markup that ran in the operator's browser, passwords that anybody could read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from saga_app import Saga, step, testing
from saga_app.core import registry
from saga_app.models import Execution

pytestmark = pytest.mark.django_db
MARKUP = "</script><img src=x onerror=alert(1)>{{7*7}}"
SECRET = "hunter2-é"
RUN = "/admin/saga_app/execution/"


@pytest.fixture(autouse=True)
def own_sagas() -> Iterator[None]:
    with registry.isolate():
        yield


def test_markup_and_secrets_stay_what_they_are(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    """Case C26. Everything is escaped everywhere, a secret is shown nowhere, and the step is given it all the same."""
    given: list[str] = []

    @step
    def a(note: str, password: str) -> dict[str, Any]:
        given.append(password)
        return {"html": note}

    @step(attempts=1)
    def b(note: str) -> None:
        raise ValueError(note)

    x = testing.run(Saga("x", a, b), note=MARKUP, password=SECRET)
    assert x.status == "failed" and given == [SECRET]
    client.force_login(User.objects.create_superuser("root"))
    pages = [client.get(address) for address in addresses(x)]
    for page in pages:
        assert page.status_code == 200
        text = b"".join(page).decode()
        assert ("<img src=x" not in text or "json" in page["content-type"]) and "hunter2" not in text
    assert "{{7*7}}" in pages[0].text
    assert "hunter2" not in caplog.text


def addresses(x: Execution) -> list[str]:
    """Where something of it is shown: to people, and to programs."""
    run = f"{RUN}{x.pk}/"
    pages = [f"{run}change/", f"{run}change/?moment=3", f"{run}verb/rerun/", f"{run}verb/fork/", f"{run}json/"]
    lists = [f"{RUN}?q={MARKUP}", f"{RUN}?saga=x", "/admin/saga_app/overview/"]
    api = [f"/api/saga/v1/executions/{x.pk}/", "/api/saga/v1/executions/"]
    return [*pages, *lists, *api]
