"""Definitions over HTTP: which there are, of the code and of what once ran, and what a program learns of one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from saga_app import Approval, Child, ForEach, If, Parallel, Pivot, Saga, Wait, ref, testing
from saga_app.store import versions
from saga_app.store.transactions import alias
from tests.doors import http
from tests.doors.http import client, is_problem, saga_queries

pytestmark = pytest.mark.django_db
SAGAS = "/api/saga/v1/sagas/"


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with testing.isolate_sagas():
        yield
    testing.clock.release()


@pytest.fixture
def api() -> Client:
    return client("view")


@pytest.mark.parametrize("address", [SAGAS, f"{SAGAS}buy/", f"{SAGAS}nope/"])
class TestWhoMay:
    def test_nobody_without_the_permission(self, address: str) -> None:
        http.buy()
        is_problem(Client().get(address), 403, "not_authenticated")
        is_problem(client("start", "batch").get(address), 403, "permission_denied")

    def test_only_get(self, api: Client, address: str) -> None:
        for method in ("post", "put", "patch", "delete", "options"):
            is_problem(getattr(api, method)(address), 405, "method_not_allowed")


class TestList:
    def test_it_has_the_code_and_what_once_ran(self, api: Client) -> None:
        with testing.isolate_sagas():
            http.stuck()
        http.pending()
        Saga("buy", http.take, input=http.Purchase, revision=2, title="Buy something")
        assert api.get(SAGAS).json()["results"] == [
            {
                "name": "buy",
                "title": "Buy something",
                "latest": 2,
                "revisions": [
                    {"revision": 2, "in_code": True, "open": 0},
                    {"revision": 1, "in_code": True, "open": 1},
                ],
            },
            {
                "name": "hold",
                "title": "",
                "latest": None,
                "revisions": [{"revision": 1, "in_code": False, "open": 1}],
            },
        ]

    def test_its_queries_do_not_grow(self, api: Client) -> None:
        for count in (1, 10):
            for number in range(count):
                Saga(f"s-{count}-{number}", http.take, input=http.Purchase).start(http.Purchase("A1", 1))
            assert len(saga_queries(lambda: api.get(SAGAS))) == 2


class TestOne:
    def said(self, api: Client, name: str, query: str = "") -> dict[str, Any]:
        response = api.get(f"{SAGAS}{name}/{query}")
        assert response.status_code == 200, response.content
        found: dict[str, Any] = response.json()
        return found

    def test_it_says_what_it_takes(self, api: Client) -> None:
        http.buy()
        said = self.said(api, "buy")
        assert said["input"] == [
            {"name": "sku", "type": "str", "required": True},
            {"name": "quantity", "type": "int", "required": True},
            {"name": "total", "type": "Decimal", "required": False},
        ]
        assert [node["id"] for node in said["graph"]["nodes"]]

    def test_it_says_what_it_consists_of(self, api: Client) -> None:
        inner = http.buy()
        Saga(
            "all",
            http.take,
            If(lambda quantity: quantity > 1, http.take.named("more")).named("much"),
            ForEach("line", ref("input.lines"), http.take.named("each")),
            Parallel(a=http.take.named("a"), b=http.take.named("b")),
            Approval("boss", permission="shop.approve", timeout=60),
            Wait("go"),
            Child(inner),
            Pivot(),
        )
        nodes = self.said(api, "all")["nodes"]
        kinds = [node["kind"] for node in nodes]
        assert kinds == ["step", "if", "foreach", "parallel", "approval", "wait", "child", "pivot"]
        assert nodes[0]["calls"] == {
            "attempts": 1,
            "timeout": 30.0,
            "atomic": False,
            "required": True,
            "queue": "",
            "compensation": {"attempts": 1, "timeout": 30.0},
            "reconciles": False,
        }
        assert [block["label"] for block in nodes[3]["blocks"]] == ["a", "b"]
        assert nodes[4]["gate"] == {"timeout": 60.0, "permission": "shop.approve"}
        assert nodes[6]["child"] == "buy"

    def test_one_whose_code_is_gone_has_the_graph_that_was_kept(
        self, api: Client, django_capture_on_commit_callbacks: Any
    ) -> None:
        with testing.isolate_sagas(), django_capture_on_commit_callbacks(execute=True):
            versions.keep(Saga("only-kept", http.take, input=http.Purchase), alias())
        said = self.said(api, "only-kept")
        assert (said["nodes"], said["input"], said["revisions"][0]["in_code"]) == (None, None, False)
        assert said["graph"]["saga"] == "only-kept"

    def test_a_revision_is_asked_for(self, api: Client) -> None:
        http.buy()
        Saga("buy", http.take, http.fail, input=http.Purchase, revision=2)
        assert (self.said(api, "buy")["revision"], self.said(api, "buy", "?revision=1")["revision"]) == (2, 1)
        is_problem(api.get(f"{SAGAS}buy/?revision=3"), 404, "not_found")
        for text in ("x", "-1", "", "%00", "9" * 5_000):
            is_problem(api.get(f"{SAGAS}buy/?revision={text}"), 400, "invalid_query")

    def test_one_that_cannot_run_says_why(self, api: Client) -> None:
        Saga("bad", Approval("boss", permission="x.y", input=http.Purchase), http.take.bind(sku=ref("nowhere")))
        said = self.said(api, "bad")
        assert "nowhere" in said["fault"]
        assert said["input"] is None

    @pytest.mark.parametrize("name", ["nope", "%00", "buy%00", "%ED%A0%80", "x" * 5_000, "%E2%80%AE"])
    def test_what_is_no_saga(self, api: Client, name: str) -> None:
        http.buy()
        is_problem(api.get(f"{SAGAS}{name}/"), 404, "not_found")
