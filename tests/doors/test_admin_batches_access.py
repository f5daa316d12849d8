"""Who may select, begin, stop and look at batches: each act and each list tried by everybody who may not."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from saga_app import batches
from saga_app.admin.batches import ACTS
from saga_app.core.batching import BATCH_VERBS
from saga_app.models import OperatorBatch
from tests.doors.batch_page import LISTS, do_url, page_of, select, signed_in
from tests.selections import again, begun, draft, drive, operator, rows

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("where", LISTS)
@pytest.mark.parametrize("verb", BATCH_VERBS)
def test_an_action_is_for_those_who_may(verb: str, where: str) -> None:
    """Its own verb and batches, both: neither is shown the action, nor is it run when it is sent all the same."""
    rows(2)
    others = [other for other in BATCH_VERBS if other != verb]
    alone = operator(verb, name="alone")
    alone.user_permissions.remove(alone.user_permissions.get(codename="batch_execution"))
    for user in (operator(*others, name="other"), alone, operator(name="viewer")):
        client = signed_in(user)
        assert f"batch_{verb}" not in client.get(LISTS[where]).content.decode()
        select(client, verb, where=where)
    assert not OperatorBatch.objects.exists()
    assert "action-select" in signed_in(operator(verb, name="may")).get(LISTS[where]).content.decode()
    viewer = signed_in(User.objects.get(username="viewer")).get(LISTS[where]).content.decode()
    assert "action-select" not in viewer, "no boxes to tick for who may do nothing"


@pytest.mark.parametrize("act", ACTS)
def test_each_act_has_its_permission(act: str) -> None:
    """To let it run: its verb and batches. To stop it: batches. To look: viewing. A GET does nothing, for anybody."""
    batch = begun(count=2) if act in ("pause", "cancel") else draft(count=2)
    if act == "go_on":
        batch = batches.pause(batches.begin(batch, actor=batch.actor), actor=batch.actor)
    stops = act in ("pause", "cancel", "discard")
    blind = operator("resume", name="blind")
    blind.user_permissions.remove(blind.user_permissions.get(codename="view_execution"))
    alone = operator("resume", name="alone")
    alone.user_permissions.remove(alone.user_permissions.get(codename="batch_execution"))
    customer = operator("resume", name="customer")
    User.objects.filter(pk=customer.pk).update(is_staff=False)
    customer.refresh_from_db()
    filled = {"version": batch.version, "reason": "r"}
    before = again(batch).version
    for user in (blind, alone, customer, *([] if stops else [operator(name="no verb")])):
        status = 302 if user is customer else 403
        assert signed_in(user).post(do_url(batch, act), filled).status_code == status, user
    assert Client().post(do_url(batch, act), filled).status_code == 302
    anna = signed_in(batch.actor)
    assert anna.get(do_url(batch, act)).url == page_of(batch)
    assert [anna.put(do_url(batch, act)).status_code, anna.post(page_of(batch)).status_code] == [405, 405]
    assert anna.post(do_url(batch, "explode"), filled).status_code == 404
    assert again(batch).version == before
    may = signed_in(operator(*([] if stops else ["resume"]), name="may"))
    assert may.post(do_url(batch, act), filled).status_code == 302
    assert not OperatorBatch.objects.filter(version=before).exists()


def test_a_viewer_sees_how_far_it_is_and_no_button() -> None:
    viewer = signed_in(operator(name="bert"))
    viewer_user = User.objects.get(username="bert")
    viewer_user.user_permissions.remove(viewer_user.user_permissions.get(codename="batch_execution"))
    batch = draft()
    page = viewer.get(page_of(batch)).content.decode()
    assert "You do not have the permission “saga_app.batch_execution”." in page and "do/" not in page
    drive(batches.begin(batch, actor=batch.actor, canary=1))
    page = viewer.get(page_of(batch)).content.decode()
    assert "1 accepted" in page and "do/" not in page


def test_no_form_is_taken_without_its_token() -> None:
    batch = draft()
    client = Client(enforce_csrf_checks=True)
    client.force_login(batch.actor)
    assert client.post(do_url(batch, "begin"), {"version": batch.version}).status_code == 403
    assert again(batch).status == "draft"
