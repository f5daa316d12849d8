"""The page of a cause: what is stuck of it and why, and what may be done to all of it at once."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from saga_app import clock, testing
from saga_app.admin import causes
from saga_app.core import registry
from saga_app.core.status import StuckReason
from saga_app.models import Event, Execution, OperatorBatch
from tests.doors import every_state

STUCK = "/admin/saga_app/stuckexecution/"
BATCH = "/admin/saga_app/operatorbatch/"
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_sagas():
    testing.clock.forward(0)  # it stands still: no second passes between what is made and what is said
    with registry.isolate():
        yield
    testing.clock.release()


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    return client


def somebody(*permissions: str) -> Client:
    user = User.objects.create_user(f"user {User.objects.count()}", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="saga_app", codename__in=permissions))
    client = Client()
    client.force_login(user)
    return client


def page_of(execution: Execution) -> str:
    return f"{STUCK}cause/{execution.cause}/"


def content(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return response.content.decode().partition('id="content-main"')[2]


def text_of(client: Client, address: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", content(client, address))).split())


def buttons(client: Client, address: str) -> dict[str, str]:
    """What may be pressed: the words, and what is sent."""
    found = re.findall(r'<button [^>]*name="(\w+)" value="(\w+)">([^<]*)<', content(client, address))
    return {word: f"{name}={value}" for name, value, word in found}


STATES = [state for state in every_state.STATES if state.startswith("stuck")]


@pytest.mark.parametrize("state", STATES)
def test_whatever_is_stuck_has_a_page_of_its_cause(root: Client, state: str) -> None:
    """With why in one line, what to do, since when, and the executions; the run page leads there."""
    execution = every_state.make(state)
    text = text_of(root, page_of(execution))
    assert StuckReason(execution.stuck_reason)
    assert text.count("Executions 1 In the last hour +1") == 1
    assert str(execution.pk) in text and "Resume one first…" in text
    assert page_of(execution) in root.get(STUCK).content.decode()
    assert page_of(execution) in content(root, f"/admin/saga_app/execution/{execution.pk}/change/")
    assert root.get(f"{STUCK}?cause={execution.cause}").content.decode().count(str(execution.pk)) >= 1


def test_it_tells_the_cause(root: Client) -> None:
    """One failure in full, the way back it was on, and why it had turned back."""
    execution = every_state.make("stuck going back")
    text = text_of(root, page_of(execution))
    for words in (
        "Stuck: a compensation failed. (compensation, attempt 2 of 2)",
        "OSError: no way back from charge: </script><img src=x onerror=alert(1)>{{7*7}}",
        "Read the error of the compensation",
        "Direction back",
        "One failure in full",
        "Traceback (most recent call last)",
        "It went back because a step failed. OSError: ship is down",
    ):
        assert words in text, words
    assert "<img" not in content(root, page_of(execution))


def test_only_its_own_executions_are_there(root: Client) -> None:
    one, other = every_state.make("stuck going back"), every_state.make("stuck held")
    ended = every_state.make("stuck going back").abandon(reason="r")
    text = text_of(root, page_of(one))
    assert str(one.pk) in text and str(other.pk) not in text and str(ended.pk) not in text


def test_the_first_twenty_the_longest_stuck_first(root: Client) -> None:
    oldest = every_state.make("stuck held")
    Execution.objects.filter(pk=oldest.pk).update(status_at=clock.now() - timedelta(days=1))
    for _ in range(21):
        every_state.make("stuck held")
    text = text_of(root, page_of(oldest)).partition("Executions, the longest stuck first")[2]
    assert text.count("charge") == 20 and "2 more in the list" in text
    assert text.partition("1/")[0].count("-") == 0 or str(oldest.pk) in text.partition("charge")[0]


def test_a_cause_that_nothing_is_stuck_of_any_more_says_so(root: Client) -> None:
    """It is no mistake to look again after it was mended."""
    execution = every_state.make("stuck held")
    page = page_of(execution)
    execution.abandon(reason="r")
    text = text_of(root, page)
    assert "Nothing is stuck of this cause." in text and execution.cause in text
    assert buttons(root, page) == {}
    assert root.post(page, {"all": "resume"}, follow=True).redirect_chain == [(page, 302)]
    assert not OperatorBatch.objects.exists()


@pytest.mark.parametrize("address", ["nonsense", "0123456789ABCDEF", "0" * 15, "0" * 17])
def test_what_is_no_cause_is_not_found(root: Client, address: str) -> None:
    assert root.get(f"{STUCK}cause/{address}/", follow=True).status_code in (200, 404)
    assert b"saga-cause-group" not in root.get(f"{STUCK}cause/{address}/", follow=True).content


def test_who_was_resumed_before_is_told(root: Client) -> None:
    """The cause was not mended: how many came back, who tried when, and how many have joined since."""
    execution = every_state.make("stuck going back")
    execution.resume(actor=User.objects.create_user("alice"))
    testing.drain()
    assert every_state.again(execution).resume_count == 1
    testing.clock.forward(60)
    every_state.make("stuck going back")
    text = text_of(root, page_of(execution))
    assert "Resumed before, and stuck again: 1 execution." in text
    assert "The last try was 1 min ago, by alice ; 1 has joined since." in text
    assert "1×" in text


def test_what_may_be_done_to_all_of_them(root: Client) -> None:
    """What the verb would be refused for one is told, not offered."""
    back, held = every_state.make("stuck going back"), every_state.make("stuck held")
    assert buttons(root, page_of(back)) == {
        "Resume one first…": "first=resume", "Resume all…": "all=resume", "Abandon all…": "all=abandon",
    }  # fmt: skip
    assert "Unwind all… It is already going back." in text_of(root, page_of(back))
    assert buttons(root, page_of(held))["Unwind all…"] == "all=unwind"


@pytest.mark.parametrize(("sent", "verb"), [("first=resume", "resume"), ("all=abandon", "abandon")])
def test_a_button_freezes_the_group_into_a_batch(root: Client, sent: str, verb: str) -> None:
    """Nothing is done to anybody before the batch is confirmed."""
    made = [every_state.make("stuck going back") for _ in range(3)]
    every_state.make("stuck held")
    before = list(Execution.objects.order_by("pk").values())
    name, value = sent.split("=")
    answer = root.post(page_of(made[0]), {name: value})
    (batch,) = OperatorBatch.objects.all()
    assert answer.url == f"{BATCH}{batch.pk}/change/" + ("?canary=1" if name == "first" else "")
    assert (batch.verb, batch.status, batch.size, batch.actor_name) == (verb, "draft", 3, "root")
    assert batch.chosen.startswith("order charge: OSError: no way back from charge")
    assert set(batch.items.values_list("execution_id", flat=True)) == {one.pk for one in made}
    assert list(Execution.objects.order_by("pk").values()) == before
    assert not Event.objects.filter(type=verb).exists()


@pytest.mark.parametrize("sent", [{}, {"all": "cancel"}, {"first": "abandon"}, {"all": "nonsense"}, {"all": ""}])
def test_what_is_no_button_does_nothing(root: Client, sent: dict[str, str]) -> None:
    execution = every_state.make("stuck held")
    assert root.post(page_of(execution), sent).status_code == 404
    assert not OperatorBatch.objects.exists()


@pytest.mark.parametrize("verb", ["resume", "unwind", "abandon"])
def test_nobody_without_both_permissions_freezes(verb: str) -> None:
    """That of the verb and that to act on many; the page says which is missing."""
    execution = every_state.make("stuck held")
    page, sent = page_of(execution), {"all": verb}
    assert Client().post(page, sent).status_code == 302
    for permissions, missing in (
        (("view_execution",), "batch_execution"),
        (("view_execution", f"{verb}_execution"), "batch_execution"),
        (("view_execution", "batch_execution"), f"{verb}_execution"),
    ):
        client = somebody(*permissions)
        assert client.post(page, sent).status_code == 403
        assert f"You do not have the permission “saga_app.{missing}”." in text_of(client, page)
    blind = somebody("batch_execution", f"{verb}_execution")
    assert (blind.get(page).status_code, blind.post(page, sent).status_code) == (403, 403)
    assert not OperatorBatch.objects.exists()
    assert somebody("view_execution", "batch_execution", f"{verb}_execution").post(page, sent).status_code == 302
    assert OperatorBatch.objects.count() == 1


def test_looking_changes_nothing(root: Client) -> None:
    execution = every_state.make("stuck held")
    for method in (root.get, root.head):
        assert method(page_of(execution), {"all": "resume"}).status_code == 200
    for method in (root.put, root.patch, root.delete):
        assert method(page_of(execution)).status_code == 405
    assert not OperatorBatch.objects.exists()


def test_no_form_is_taken_without_its_token() -> None:
    execution = every_state.make("stuck held")
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.create_superuser("root"))
    assert client.post(page_of(execution), {"all": "resume"}).status_code == 403


def test_as_many_queries_for_many_as_for_one(root: Client, django_assert_num_queries: Any) -> None:
    """However many there are.

    Session and user; the strip; the group, and its sample, its executions, their facts, the step of the
    sample, and the two that tell which verbs it may be told.
    """
    execution = every_state.make("stuck going back")
    with django_assert_num_queries(10):
        root.get(page_of(execution))
    for _ in range(30):
        every_state.make("stuck going back")
    with django_assert_num_queries(10):
        root.get(page_of(execution))
    assert causes.MOST == 20
