"""The pages of sagas: the list, and the page of one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
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
from saga_app.models import SagaVersion
from tests.doors import every_state
from tests.doors.test_admin_markup import wrong_in
from tests.doors.test_admin_pages import text_of

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
