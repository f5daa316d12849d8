"""Approvals over HTTP: who looks may ask, the approval says who may decide, and what is filled in is its own type."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from saga_app import Approval, Saga, ref, testing
from saga_app.models import Execution, Signal
from tests.doors import http
from tests.doors.http import is_problem, one, post
from tests.doors.test_api_access import Machine

pytestmark = pytest.mark.django_db
MAY = "saga_app.batch_execution"  # any permission of the site's will do


@dataclass
class Ruling:
    limit: Decimal
    fast: bool = False


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with testing.isolate_sagas():
        yield
    testing.clock.release()


def asking(**options: Any) -> Execution:
    options = options if "allow" in options else {"permission": MAY, **options}
    return testing.run(Saga("s", Approval("boss", **options), output=ref("boss.approved")))


def boss(*more: str) -> Client:
    return http.client("view", "batch", *more)


def now(execution: Execution) -> Execution:
    testing.drain()
    return Execution.objects.get(pk=execution.pk)


@pytest.mark.parametrize(("verb", "expected"), [("approve", True), ("reject", False)])
def test_a_decision_opens_the_gate(verb: str, expected: bool) -> None:
    execution = asking(on_reject="continue")
    response = post(boss(), one(execution, verb), {"gate": "boss", "reason": "seen it", "version": execution.version})
    assert response.status_code == 200, response.content
    assert response.json()["unread_signals"] == 1
    assert now(execution).output is expected


@pytest.mark.parametrize("verb", ["approve", "reject"])
class TestWhoMay:
    def test_the_approvals_own_permission_says(self, verb: str) -> None:
        execution = asking()
        by = http.client("view")
        for body in ({"gate": "boss"}, {"gate": "boss", "values": {"limit": "1"}}):
            is_problem(post(by, one(execution, verb), body), 403, "not_permitted")
        assert not Signal.objects.exists()

    def test_what_it_allows_says(self, verb: str) -> None:
        execution = asking(allow=lambda actor: actor.username == "anna")
        is_problem(post(boss(), one(execution, verb), {"gate": "boss"}), 403, "not_permitted")
        assert post(http.client_named("anna", "view"), one(execution, verb), {"gate": "boss"}).status_code == 200

    def test_who_started_it_may_not(self, verb: str) -> None:
        who = http.user("view", "batch", name="bob")
        execution = Saga("s", Approval("boss", permission=MAY, four_eyes=True)).start(actor=who)
        testing.drain()
        by = Client()
        by.force_login(who)
        is_problem(post(by, one(execution, verb), {"gate": "boss"}), 403, "four_eyes")

    def test_who_may_not_look_may_not_decide(self, verb: str) -> None:
        is_problem(post(http.client("batch"), one(asking(), verb), {"gate": "boss"}), 403, "permission_denied")

    def test_a_user_without_a_row_may_what_the_authentication_says(self, verb: str) -> None:
        by = APIClient()
        by.force_authenticate(user=Machine())
        execution = asking()
        assert by.post(one(execution, verb), {"gate": "boss"}, format="json").status_code == 200
        assert Signal.objects.get().sender_name == "billing"


class TestValues:
    def test_they_become_what_the_approval_asks_for(self) -> None:
        execution = testing.run(Saga("s", Approval("boss", permission=MAY, input=Ruling), output=ref("boss.input")))
        body = {"gate": "boss", "values": {"limit": "9.50"}}
        assert post(boss(), one(execution, "approve"), body).status_code == 200
        assert now(execution).output == Ruling(Decimal("9.50"))

    @pytest.mark.parametrize(
        ("values", "blamed"),
        [
            ({"limit": "x"}, "/values/limit"),
            ({"limit": {}}, "/values/limit"),
            ({}, "/values/limit"),
            (None, "/values/limit"),
            ({"limit": "1", "a/b": 1}, "/values/a~1b"),
            ({"limit": "1", "fast": []}, "/values/fast"),
        ],
    )
    def test_what_does_not_fit_is_refused_by_its_place(self, values: Any, blamed: str) -> None:
        execution = asking(input=Ruling)
        response = post(boss(), one(execution, "approve"), {"gate": "boss", "values": values})
        problem = is_problem(response, 400, "input_invalid")
        assert [error["pointer"] for error in problem["errors"]] == [blamed]
        assert not Signal.objects.exists()

    def test_where_nothing_is_asked_nothing_may_be_said(self) -> None:
        response = post(boss(), one(asking(), "approve"), {"gate": "boss", "values": {"x": 1}})
        is_problem(response, 400, "input_invalid")


class TestRefusals:
    @pytest.mark.parametrize(
        ("gate", "code"), [("bos", "no_such_gate"), ("boss[1]", "not_open"), ("x" * 255, "no_such_gate")]
    )
    def test_a_gate_that_is_not_there(self, gate: str, code: str) -> None:
        is_problem(post(boss(), one(asking(), "approve"), {"gate": gate, "values": {"x": 1}}), 409, code)

    def test_a_second_decision(self) -> None:
        execution, by = asking(), boss()
        body = {"gate": "boss", "key": "k"}
        assert post(by, one(execution, "approve"), body).status_code == 200
        assert post(by, one(execution, "approve"), body).status_code == 200, "made again by its key"
        is_problem(post(by, one(execution, "reject"), {"gate": "boss"}), 409, "decided")
        assert Signal.objects.count() == 1

    def test_what_has_ended(self) -> None:
        execution = asking()
        execution.cancel()
        testing.drain()
        is_problem(post(boss(), one(execution, "approve"), {"gate": "boss"}), 409, "terminal")

    def test_a_stale_version(self) -> None:
        execution = asking()
        body = {"gate": "boss", "version": execution.version + 1}
        is_problem(post(boss(), one(execution, "approve"), body), 409, "version_changed")

    @pytest.mark.parametrize(
        ("body", "blamed"),
        [
            ({}, "/gate"),
            ({"gate": 1}, "/gate"),
            ({"gate": "a\x00b"}, "/gate"),
            ({"gate": "boss", "values": []}, "/values"),
            ({"gate": "boss", "key": ""}, "/key"),
            ({"gate": "boss", "name": "boss"}, "/name"),
        ],
    )
    def test_what_no_decision_looks_like(self, body: Any, blamed: str) -> None:
        problem = is_problem(post(boss(), one(asking(), "approve"), body), 400, "invalid")
        assert [error["pointer"] for error in problem["errors"]] == [blamed]
