"""The pages of sagas: the list, the page of one, and the start of one by hand."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.admin.models import ADDITION, LogEntry
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from saga_app import (
    Approval,
    Branch,
    Child,
    Compute,
    ForEach,
    If,
    Milestone,
    Parallel,
    Pivot,
    Repeat,
    Saga,
    Sleep,
    Try,
    Wait,
    While,
    clock,
    ref,
    step,
    testing,
)
from saga_app.core import registry
from saga_app.core.graph import graph_of
from saga_app.models import Event, Execution, SagaVersion
from tests.doors import every_state
from tests.doors.confirm_page import hidden_fields, run_url
from tests.doors.test_admin_markup import wrong_in
from tests.doors.test_admin_pages import text_of
from tests.doors.test_admin_permissions import somebody

pytestmark = pytest.mark.django_db
LIST = "/admin/saga_app/sagaversion/"


def page_of(name: str, then: str = "") -> str:
    return f"{LIST}saga/{name}/{then}"


@pytest.fixture(autouse=True)
def own_sagas():
    with registry.isolate():
        yield


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    return client


@dataclass(frozen=True)
class Order:
    sku: str
    qty: int
    price: Decimal = Decimal("9.90")
    gift: bool = False


@step(attempts=5, timeout=10)
def reserve(sku: str, qty: int) -> str:
    return f"{qty} x {sku}"


@reserve.compensate(attempts=10, timeout=60)
def release() -> None:
    """Nothing in the world."""


def order(**options: Any) -> Saga[Any]:
    return Saga("place-order", reserve, input=Order, **{"title": "Place an order", **options})


def kept(saga: Saga[Any]) -> SagaVersion:
    """Its shape as the first start keeps it, when its transaction has committed."""
    row = SagaVersion(saga=saga.name, revision=saga.revision, fingerprint=saga.fingerprint, seen_at=clock.now())
    row.graph_text = json.dumps(graph_of(saga))
    return SagaVersion.objects.bulk_create([row])[0]


def send(client: Client, url: str, **filled: str) -> Any:
    """Open the form, fill it in, send it as a browser would: with what it proposes."""
    page = client.get(url)
    assert page.status_code == 200
    form = page.context["form"]
    values = {field.html_name: field.value() for field in [*form, *form.asked] if field.value() is not None}
    named = {name.replace("value_", "value-"): text for name, text in filled.items()}
    return client.post(url, {**hidden_fields(page), **values, **named})


class TestTheList:
    def test_those_of_the_code_and_those_that_once_ran(self, root: Client) -> None:
        with registry.isolate():
            Saga("gone", every_state.act("a")).start(note="x")
        order().start(Order("A1", 2))
        Saga("place-order", reserve, input=Order, revision=2)
        page = text_of(root.get(LIST))
        assert "gone – not known to this process 1 1 0" in page
        assert f"place-order – {__name__} 2 1 1 open 1 0" in page

    def test_as_many_queries_for_many_sagas(self, root: Client) -> None:
        def asked() -> int:
            with CaptureQueriesContext(connection) as captured:
                assert root.get(LIST).status_code == 200
            return len(captured)

        order().start(Order("A1", 2))
        one = asked()
        for number in range(8):
            Saga(f"saga-{number}", every_state.act("a")).start(note="x")
        assert asked() == one <= 12

    def test_no_saga_at_all(self, root: Client) -> None:
        assert "There is no saga" in text_of(root.get(LIST))


class TestThePage:
    def test_the_definition(self, root: Client) -> None:
        order(output=ref("reserve"), timeout=7200, queue="slow", on_failure="hold")
        page = text_of(root.get(page_of("place-order")))
        for part in (
            "place-order Place an order",
            "Revision 1 the one that is started",
            "When a step fails it stops for an operator",
            "Output reserve",
            "Time limit 2 h",
            "Queue slow",
            "reserve step 5 attempts of at most 10 s undone by release, 10 attempts of at most 1 min",
            "sku str yes qty int yes price Decimal no gift bool no",
        ):
            assert part in page
        assert "<svg" in root.get(page_of("place-order")).content.decode()

    def test_every_kind_of_node(self, root: Client) -> None:
        def act(name: str) -> Any:
            return every_state.act(name, undo=False)

        kid = Saga("kid", act("a"), title="<img src=x onerror=alert(1)>")
        Saga(
            "all",
            Branch(lambda note: note, card=act("b"), default=[act("c")]).named("how"),
            If(lambda note: note, act("d"), otherwise=[act("e")]).named("whether"),
            Parallel(act("f"), hotel=[act("g")]),
            While(lambda: False, act("h")).named("while"),
            Repeat(act("i"), until=lambda: True).named("until"),
            ForEach("line", lambda: [1], act("j"), concurrency=3),
            Compute("sum", lambda: 1),
            Child(kid).bind(note="x"),
            Wait("paid", timeout=60, on_timeout=[act("k")]),
            Approval("ok", permission="shop.ok", four_eyes=True, on_reject=[act("l")]),
            Sleep(timedelta(hours=1)),
            Try(act("m"), catch=(OSError,), recover=[act("n")]),
            Milestone("safe"),
            Pivot(),
            act("o"),
        )
        response = root.get(page_of("all"))
        page = text_of(response)
        for part in (
            "how branch",
            "whether if",
            "side by side",
            "while while at most 100 turns",
            "until repeat until",
            "line for each 3 at a time",
            "sum compute",
            "kid child kid",
            "paid wait for a signal open for 1 min",
            "when its time is up",
            "by somebody with the permission “shop.ok” by somebody else than who started it",
            "sleep sleep for 1 h",
            "try catches OSError",
            "when that fails",
            "safe milestone an unwind stops here",
            "pivot from here on it only goes forward",
            "no compensation",
        ):
            assert part in page
        assert wrong_in(response) == wrong_in(root.get(page_of("kid"))) == wrong_in(root.get(LIST)) == []

    def test_each_shape_with_what_is_open(self, root: Client) -> None:
        with registry.isolate():
            order().start(Order("A1", 1))
            testing.run(order(), Order("A1", 1))
        order(revision=2).start(Order("A1", 2))
        page = text_of(root.get(page_of("place-order"))).partition("Revisions Revision")[2]
        assert page.index("2 ") < page.index("as the code here has it") < page.index("not in the code here")
        link = "/admin/saga_app/execution/?saga=place-order&amp;revision=1"
        assert f'href="{link}"' in root.get(page_of("place-order")).content.decode()
        assert root.get(link.replace("&amp;", "&")).context["cl"].result_count == 1
        for number in ("x", "0", "-1", "9" * 30, "9" * 9):
            assert root.get(f"/admin/saga_app/execution/?revision={number}").context["cl"].result_count == 0

    def test_a_revision_that_only_the_table_knows(self, root: Client) -> None:
        with registry.isolate():
            row = kept(order())
        page = text_of(root.get(page_of("place-order")))
        assert "This process does not know revision 1" in page
        assert "<svg" in root.get(page_of("place-order")).content.decode()
        assert "Start…" not in page
        assert root.get(f"{LIST}{row.pk}/change/").url == page_of("place-order", "?revision=1")
        assert root.get(f"{LIST}999/change/").url == LIST

    @pytest.mark.parametrize("revision", ["9", "x", "-1", "1.5", "9" * 30])
    def test_a_revision_that_nobody_knows(self, root: Client, revision: str) -> None:
        order()
        assert root.get(page_of("place-order"), {"revision": revision}).status_code == 404

    @pytest.mark.parametrize("name", ["nothing", "<img src=x>", "a b", "%00"])
    def test_a_saga_that_nobody_knows(self, root: Client, name: str) -> None:
        for then in ("", "start/", "schedule/", "schedule/1/pause/"):
            assert root.get(page_of(name, then)).status_code == 404

    def test_one_that_cannot_run_says_why(self, root: Client) -> None:
        Saga("broken", Child("nothing"))
        page = text_of(root.get(page_of("broken")))
        assert "No execution of it can run:" in page
        assert "Start…" not in page
        assert root.get(page_of("broken", "start/")).status_code == 404
        assert root.get(LIST).status_code == 200

    def test_a_number_of_queries_that_does_not_grow(self, root: Client) -> None:
        def asked() -> int:
            with CaptureQueriesContext(connection) as captured:
                assert root.get(page_of("place-order")).status_code == 200
            return len(captured)

        saga = order()
        saga.start(Order("A1", 1))
        one = asked()
        for _ in range(10):
            saga.start(Order("A1", 1))
        assert asked() == one <= 12


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
