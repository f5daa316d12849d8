"""A saga is started by hand: what is filled in, what is refused, who may, and what it leaves on record."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.admin.models import ADDITION, LogEntry
from django.contrib.auth.models import User
from django.test import Client

from saga_app import Compute, ForEach, Saga, clock, ref
from saga_app.core import registry
from saga_app.models import Event, Execution, SagaVersion
from tests.doors import every_state
from tests.doors.confirm_page import hidden_fields, run_url
from tests.doors.test_admin_markup import wrong_in
from tests.doors.test_admin_permissions import somebody
from tests.doors.test_admin_sagas import LIST, Order, kept, order, page_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_sagas():
    with registry.isolate():
        yield


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    return client


def send(client: Client, url: str, **filled: str) -> Any:
    """Open the form, fill it in, send it as a browser would: with what it proposes."""
    page = client.get(url)
    assert page.status_code == 200
    form = page.context["form"]
    values = {field.html_name: field.value() for field in [*form, *form.asked] if field.value() is not None}
    named = {name.replace("value_", "value-"): text for name, text in filled.items()}
    return client.post(url, {**hidden_fields(page), **values, **named})


class TestStart:
    def test_one_is_started(self, root: Client) -> None:
        order()
        answer = send(root, page_of("place-order", "start/"), value_sku="A1", value_qty="2", value_gift="true")
        execution = Execution.objects.get()
        assert answer.url == run_url(execution)
        assert execution.input == {"sku": "A1", "qty": 2, "price": Decimal("9.90"), "gift": True}
        assert execution.key.startswith("by-hand-")
        event = Event.objects.get(execution=execution, type="start")
        assert event.actor_name == "root"
        entry = LogEntry.objects.get()
        assert (entry.action_flag, entry.get_edited_object(), entry.change_message) == (ADDITION, execution, "start")
        assert "Started." in root.get(answer.url).content.decode()

    def test_a_second_click_starts_nothing(self, root: Client) -> None:
        order()
        url = page_of("place-order", "start/")
        filled = {"key": root.get(url).context["form"]["key"].value(), "value-sku": "A1", "value-qty": "2"}
        filled |= {"value-price": "1", "value-gift": "false"}
        first, second = root.post(url, filled), root.post(url, filled)
        assert first.url == second.url
        assert Execution.objects.count() == LogEntry.objects.count() == 1
        assert "nothing was started now" in root.get(second.url).content.decode()

    def test_a_key_that_names_something_else(self, root: Client) -> None:
        order().start(Order("A1", 1), key="k")
        answer = send(root, page_of("place-order", "start/"), value_sku="B2", value_qty="2", key="k")
        assert answer.status_code == 409
        assert answer.context["form"].errors.keys() == {"key"}
        assert answer.context["form"].asked["sku"].value() == "B2"
        assert Execution.objects.count() == 1

    def test_errors_stand_at_their_fields_and_what_was_typed_stays(self, root: Client) -> None:
        order()
        answer = send(root, page_of("place-order", "start/"), value_sku="", value_qty="many", value_price="1.5")
        asked = answer.context["form"].asked
        assert asked.errors.keys() == {"sku", "qty"}
        page = answer.content.decode()
        assert 'value="many"' in page
        assert 'value="1.5"' in page
        assert "Correct what is marked below." in page
        assert not Execution.objects.exists()

    def test_what_a_loop_cannot_run_over_stands_at_its_field(self, root: Client) -> None:
        Saga("loop", ForEach("line", ref("input.lines"), every_state.act("a"), max_items=2))
        answer = send(root, page_of("loop", "start/"), value_lines="[1, 2, 3]", value_note='"x"')
        assert answer.status_code == 409
        assert answer.context["form"].asked.errors.keys() == {"lines"}
        assert answer.context["form"].asked["lines"].value() == "[1, 2, 3]"

    def test_what_cannot_be_stored_is_said(self, root: Client) -> None:
        Saga("any", Compute("x", lambda what: what))
        answer = send(root, page_of("any", "start/"), value_what="[NaN]")
        assert answer.status_code == 409
        assert "what[0]" in answer.content.decode()

    def test_from_when_on(self, root: Client) -> None:
        order()
        at = (clock.now() + timedelta(days=1)).replace(microsecond=0)
        url = page_of("place-order", "start/")
        send(root, url, value_sku="A1", value_qty="2", due=f"{at:%Y-%m-%dT%H:%M:%S}")
        assert Execution.objects.get().due_at == at

    def test_one_without_input(self, root: Client) -> None:
        Saga("plain", Compute("x", lambda: 1))
        assert send(root, page_of("plain", "start/")).status_code == 302

    def test_the_highest_revision_is_started(self, root: Client) -> None:
        order()
        order(revision=7)
        send(root, page_of("place-order", "start/"), value_sku="A1", value_qty="2")
        assert Execution.objects.get().revision == 7

    def test_hostile_text_is_text(self, root: Client) -> None:
        order(title="<img src=x onerror=alert(1)>")
        answer = send(
            root, page_of("place-order", "start/"), value_sku='"><img src=x onerror=alert(1)>', value_qty="<b"
        )
        assert wrong_in(answer) == []


class TestWho:
    @pytest.mark.parametrize(
        ("permissions", "pages", "start"),
        [((), 403, 403), (("start",), 403, 403), (("view",), 200, 403), (("view", "resume"), 200, 403)],
    )
    def test_pages_and_start(self, permissions: tuple[str, ...], pages: int, start: int) -> None:
        order()
        client = somebody(*(f"{word}_execution" for word in permissions))
        assert [client.get(page).status_code for page in (LIST, page_of("place-order"))] == [pages, pages]
        filled = {"value-sku": "A1", "value-qty": "2", "value-price": "1", "value-gift": "true"}
        for then in ("start/", "schedule/", "schedule/1/delete/"):
            assert client.get(page_of("place-order", then)).status_code == start
            assert client.post(page_of("place-order", then), filled).status_code == start
        assert Client().get(page_of("place-order")).status_code == 302
        assert not Execution.objects.exists()

    def test_a_viewer_sees_no_button(self) -> None:
        order()
        page = somebody("view_execution").get(page_of("place-order")).content.decode()
        assert ("saga-button" in page, "reserve" in page) == (False, True)

    def test_with_the_permission_alone(self) -> None:
        order()
        client = somebody("view_execution", "start_execution")
        assert page_of("place-order", "start/") in client.get(page_of("place-order")).content.decode()
        assert send(client, page_of("place-order", "start/"), value_sku="A1", value_qty="2").status_code == 302

    @pytest.mark.parametrize("method", ["get", "head", "options", "put", "delete"])
    def test_nothing_but_a_post_starts_anything(self, root: Client, method: str) -> None:
        order()
        url = page_of("place-order", "start/")
        getattr(root, method)(f"{url}?value-sku=A1&value-qty=2&value-price=1&value-gift=true")
        assert not Execution.objects.exists()

    def test_pages_that_only_show_take_no_post(self, root: Client) -> None:
        order()
        assert [root.post(page).status_code for page in (LIST, page_of("place-order"))] == [405, 405]

    def test_nobody_adds_changes_or_deletes_a_shape(self, root: Client) -> None:
        row = kept(order())
        assert root.post(f"{LIST}add/", {"saga": "x"}).status_code == 403
        assert root.post(f"{LIST}{row.pk}/delete/", {"post": "yes"}).status_code == 403
        assert root.post(f"{LIST}{row.pk}/change/", {"saga": "x"}).status_code in (302, 405)
        assert list(SagaVersion.objects.all()) == [row]

    def test_no_form_is_taken_without_its_token(self) -> None:
        order()
        client = Client(enforce_csrf_checks=True)
        client.force_login(User.objects.create_superuser("root"))
        assert client.post(page_of("place-order", "start/"), {"value-sku": "A1", "value-qty": "2"}).status_code == 403
        assert not Execution.objects.exists()
