"""The ways that lead from page to page: from a history to a batch, from an execution to its saga and from there on."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from saga_app import acting, batches, testing
from saga_app.core import registry
from saga_app.models import Execution, OperatorBatch
from saga_app.store import events
from saga_app.store.transactions import alias
from tests.doors import every_state
from tests.doors.test_admin_permissions import somebody
from tests.doors.test_admin_run import html

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_sagas():
    testing.clock.release()
    with registry.isolate():
        yield


@pytest.fixture
def viewer() -> Client:
    return somebody("view_execution")


def resumed_by_a_batch() -> tuple[Execution, OperatorBatch]:
    execution, user = every_state.make("stuck held"), User.objects.create_superuser("root")
    batch = batches.freeze("resume", Execution.objects.all(), actor=user)
    with acting.part_of(batch=str(batch.pk)):
        execution.resume(actor=user)
    return execution, batch


def page_of_batch(batch: OperatorBatch) -> str:
    return reverse("admin:saga_app_operatorbatch_change", args=[batch.pk])


class TestHistory:
    def test_it_leads_to_the_batch_that_a_verb_was_part_of(self, viewer: Client) -> None:
        execution, batch = resumed_by_a_batch()
        page = html(viewer, execution)
        link = f'<a href="{page_of_batch(batch)}">{batch.pk}</a>'
        assert page.count(link) == 1
        assert viewer.get(page_of_batch(batch)).status_code == 200

    def test_it_leads_to_the_execution_that_this_one_was_made_of(self, viewer: Client) -> None:
        old = every_state.make("failed")
        page = html(viewer, old.rerun())
        assert f'<a href="{reverse("admin:saga_app_execution_change", args=[old.pk])}">{old.pk}</a>' in page

    @pytest.mark.parametrize(
        "data",
        [
            {"batch": "<b>x</b>"},
            {"batch": ["<b>x</b>"]},
            {"batch": ".*<b>x</b>"},
            {"other": "<b>x</b>", "batch": "01890000-0000-7000-8000-000000000000"},
        ],
    )
    def test_what_it_says_is_text(self, viewer: Client, data: dict[str, Any]) -> None:
        """Whatever somebody wrote into the table, and even beside a link."""
        execution = every_state.make("failed")
        events.append(execution.pk, "resume", alias(), data=data)
        page = html(viewer, execution)
        assert "<b>x" not in page and "&lt;b&gt;x&lt;/b&gt;" in page


class TestSaga:
    def test_an_execution_leads_to_its_saga_in_its_revision(self, viewer: Client) -> None:
        execution = every_state.make("waiting")
        way = f"{reverse('admin:saga_app_saga', args=[execution.saga])}?revision={execution.revision}"
        assert f'href="{way}"' in html(viewer, execution)
        assert viewer.get(way).status_code == 200

    def test_the_overview_leads_to_each_saga(self, viewer: Client) -> None:
        execution = every_state.make("waiting")
        page = viewer.get(reverse("admin:saga_app_overview_changelist")).content.decode()
        assert f'href="{reverse("admin:saga_app_saga", args=[execution.saga])}"' in page

    def test_a_saga_leads_to_all_its_executions(self, viewer: Client) -> None:
        """Those that have ended, too, which no count of open ones leads to."""
        ended = every_state.make("failed")
        page = viewer.get(reverse("admin:saga_app_saga", args=[ended.saga])).content.decode()
        way = f"{reverse('admin:saga_app_execution_changelist')}?saga={ended.saga}"
        assert f'href="{way}"' in page
        assert str(ended.pk) in viewer.get(way).content.decode()
