"""Starting a saga over HTTP: what comes back, keys, inputs that do not fit, and bodies nobody should send."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import Client, override_settings

from saga_app import Saga, step, testing
from saga_app.models import Event, Execution
from tests.doors import http
from tests.doors.http import GIVEN, ROOT, is_problem, post, saga_queries

pytestmark = pytest.mark.django_db
MB = 1024 * 1024


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with testing.isolate_sagas():
        http.buy()
        Saga("s", echo)
        yield


@pytest.fixture
def api() -> Client:
    return http.client("start", "view")


@step(attempts=1)
def echo(x: Any = None) -> Any:
    return x


def start(api: Client, saga: str = "buy", input: Any = GIVEN, **more: Any):
    return post(api, ROOT, {"saga": saga, "input": input, **more})


class TestStart:
    def test_it_answers_with_the_new_execution_and_its_address(self, api):
        response = start(api, key="order-1")
        execution = Execution.objects.get()
        assert response.status_code == 201
        assert response["Location"] == f"http://testserver{ROOT}{execution.pk}/"
        said = response.json()
        assert (said["id"], said["status"], said["key"]) == (str(execution.pk), "pending", "order-1")
        assert said.keys().isdisjoint({"input", "output"}), "who may start may not therefore read"
        assert api.get(response["Location"]).json()["input"] == {"sku": "A1", "quantity": 2, "total": "9.99"}

    def test_who_started_it_is_in_the_history(self, api):
        start(api)
        event = Event.objects.get()
        assert (event.type, event.actor_name, event.actor.username) == ("start", "start-view", "start-view")

    def test_json_is_converted_to_the_declared_types(self, api):
        start(api, input={**GIVEN, "quantity": "3", "total": 12.5})
        assert Execution.objects.get().input == {"sku": "A1", "quantity": 3, "total": Decimal("12.5")}

    def test_the_highest_revision_is_started(self, api):
        Saga("s", echo, revision=7)
        assert start(api, "s", {}).json()["revision"] == 7

    def test_input_may_be_left_out_where_nothing_is_needed(self, api):
        assert post(api, ROOT, {"saga": "s"}).status_code == 201

    def test_it_is_driven_to_its_end(self, api):
        address = start(api)["Location"]
        testing.drain()
        assert api.get(address).json()["status"] == "completed"

    def test_it_costs_two_writes(self, api):
        """The row and its event; the rest is one read of the row."""
        queries = saga_queries(lambda: start(api))
        assert [query.split()[0] for query in queries].count("INSERT") == 2
        assert len(queries) == 3

    def test_any_text_that_json_holds_comes_back(self, api):
        text = "\x00 \ud800 \u202e é 😀"
        response = post(api, ROOT, json.dumps({"saga": "s", "input": {"x": text}}).encode())
        assert response.status_code == 201
        assert Execution.objects.get().input == {"x": text}


class TestKeys:
    def test_the_same_again_is_the_same_execution(self, api):
        first, second = start(api, key="k"), start(api, key="k")
        assert (first.status_code, second.status_code) == (201, 200)
        assert first["Location"] == second["Location"]
        assert first.json()["id"] == second.json()["id"]
        assert (Execution.objects.count(), Event.objects.count()) == (1, 1)

    def test_another_input_under_the_same_key_is_a_conflict(self, api):
        start(api, key="k")
        problem = is_problem(start(api, input={**GIVEN, "quantity": 3}, key="k"), 409, "key_conflict")
        assert [error["pointer"] for error in problem["errors"]] == ["/input/quantity"]
        assert (Execution.objects.count(), Event.objects.count()) == (1, 1)

    def test_the_places_that_differ_are_json_pointers(self, api):
        """Whatever the names in the input look like."""
        first = {"plain": [{"deep": 1}], "a.b": 1, "c/d~e": 1, "it's": 1, "": 1, "gone": 1}
        start(api, "s", {"x": first}, key="k")
        second = {"plain": [{"deep": 2}], "a.b": 2, "c/d~e": 2, "it's": 2, "": 2, "new": 1}
        problem = is_problem(start(api, "s", {"x": second}, key="k"), 409, "key_conflict")
        assert {error["pointer"] for error in problem["errors"]} == {
            "/input/x/plain/0/deep",
            "/input/x/a.b",
            "/input/x/c~1d~0e",
            "/input/x/it's",
            "/input/x/",
            "/input/x/gone",
            "/input/x/new",
        }

    def test_without_a_key_each_request_is_another(self, api):
        assert start(api).json()["id"] != start(api, key=None).json()["id"]

    @pytest.mark.parametrize("key", ["", "x" * 256, "a\x00b", "\ud800", 5, True, [], {}, 1.5])
    def test_what_can_be_no_key(self, api, key):
        body = json.dumps({"saga": "s", "key": key}).encode()
        problem = is_problem(post(api, ROOT, body), 400, "invalid")
        assert {error["pointer"] for error in problem["errors"]} == {"/key"}
        assert not Execution.objects.exists()

    def test_a_key_is_taken_as_it_is(self, api):
        for key in (" k", "k ", "k", "K", "\u212b", "Å", "a/b", "'; --"):
            assert start(api, key=key).json()["key"] == key
        assert Execution.objects.count() == 8


class TestInputThatDoesNotFit:
    @pytest.mark.parametrize(
        ("given", "pointers"),
        [
            ({}, {"/input/sku", "/input/quantity"}),
            ({"sku": "A1"}, {"/input/quantity"}),
            ({**GIVEN, "quantity": "many"}, {"/input/quantity"}),
            ({**GIVEN, "quantity": None}, {"/input/quantity"}),
            ({**GIVEN, "quantity": [1]}, {"/input/quantity"}),
            ({**GIVEN, "quantity": 1.5}, {"/input/quantity"}),
            ({**GIVEN, "sku": 5}, {"/input/sku"}),
            ({**GIVEN, "total": "1,5"}, {"/input/total"}),
            ({**GIVEN, "total": "NaN"}, {"/input/total"}),
            ({**GIVEN, "qty": 5}, {"/input/qty"}),
            ({**GIVEN, "a/b~c": 5}, {"/input/a~1b~0c"}),
            ({**GIVEN, "a.b": 5}, {"/input/a.b"}),
        ],
    )
    def test_each_field_is_blamed(self, api, given, pointers):
        response = start(api, input=given)
        assert response.json()["code"] in {"invalid_input", "unsupported_value"}
        problem = is_problem(response, 400, response.json()["code"])
        assert {error["pointer"] for error in problem["errors"]} == pointers
        assert not Execution.objects.exists()

    def test_a_saga_nobody_knows(self, api):
        problem = is_problem(start(api, "bye"), 400, "unknown_saga")
        assert problem["errors"][0]["pointer"] == "/saga"
        assert "buy" in problem["detail"], "the nearest name"

    @pytest.mark.parametrize("input_", [[], "x", 5, True, 1.5, None])
    def test_input_is_an_object(self, api, input_):
        problem = is_problem(start(api, "s", input_), 400, "invalid")
        assert [error["pointer"] for error in problem["errors"]] == ["/input"]

    @pytest.mark.parametrize("saga", [1, None, [], {}, True, "", "x" * 101, "a\x00b", "\ud800"])
    def test_saga_is_a_name(self, api, saga):
        problem = is_problem(post(api, ROOT, json.dumps({"saga": saga}).encode()), 400, "invalid")
        assert {error["pointer"] for error in problem["errors"]} == {"/saga"}

    def test_a_misspelt_option_is_not_an_option_left_out(self, api):
        problem = is_problem(start(api, kee="order-1"), 400, "invalid")
        assert [error["pointer"] for error in problem["errors"]] == ["/kee"]
        assert not Execution.objects.exists()

    def test_too_large_a_value(self, api):
        """Case C35 (api)."""
        assert post(api, ROOT, {"saga": "s", "input": {"x": "x" * 30 * MB}}).status_code == 413
        with override_settings(SAGA={"MAX_VALUE_BYTES": 1_000}):
            assert start(api, "s", {"x": "x" * 2_000}).status_code in {400, 413}
        assert not Execution.objects.exists()

    def test_a_refusal_rolls_an_open_request_transaction_back(self, api):
        """With ATOMIC_REQUESTS nothing of a refused request stays."""
        start(api, key="k")
        connection.settings_dict["ATOMIC_REQUESTS"] = True
        try:
            is_problem(start(api, input={**GIVEN, "quantity": 3}, key="k"), 409, "key_conflict")
            assert start(api, key="other").status_code == 201
        finally:
            connection.settings_dict["ATOMIC_REQUESTS"] = False
        assert Execution.objects.count() == 2


class TestBodies:
    @pytest.mark.parametrize(
        "body",
        [
            b"null",
            b"[]",
            b'"x"',
            b"5",
            b"true",
            b"{",
            b"",
            b" ",
            b"\xff\xfe",
            b"\xef\xbb\xbf{}",
            '{"saga":"s"}'.encode("utf-16"),
            b'{"saga":"s","input":{"x":Infinity}}',
            b'{"saga":"s","input":{"x":-Infinity}}',
            b'{"saga":"s","input":{"x":NaN}}',
            b'{"saga":"s","input":{"x":1e999}}',
            b'{"saga":"s","input":{"x":' + b"9" * 5_000 + b"}}",
            b'{"saga":1}',
            b'{"saga":"s","saga":"nope"}',
            b'{"saga":"nope","saga":"s"}',
            b'{"saga":"s","input":{"x":1,"x":2}}',
            b'{"saga":"s","input":' + b"[" * 100_000,
            b'{"saga":"s","input":{"x":' + b"[" * 100 + b"]" * 100 + b"}}",
            b'{"saga":"s","input":' + b'{"x":' * 100_000 + b"1" + b"}" * 100_001,
            b'{"saga":"s"} trailing',
            b"<saga>s</saga>",
            b"saga=s",
            b"\x00",
            b'{"saga":"s\x00"}',
            b'{"saga": "s", "input": {"x": "a\nb"}}',
        ],
        ids=lambda body: repr(body[:40]),
    )
    def test_what_is_no_request_is_a_4xx(self, api, body):
        """Case C22."""
        response = post(api, ROOT, body)
        assert 400 <= response.status_code < 500
        is_problem(response, response.status_code, response.json()["code"])
        assert not Execution.objects.exists()

    @pytest.mark.parametrize(
        "content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "x", ""]
    )
    def test_only_json_is_read(self, api, content_type):
        response = api.generic("POST", ROOT, b'{"saga": "s"}', content_type)
        assert response.status_code in {400, 415}
        is_problem(response, response.status_code, response.json()["code"])
        assert not Execution.objects.exists()

    @pytest.mark.parametrize("charset", ["utf-8", "latin-1", "bz2_codec", "nonsense"])
    def test_json_is_utf_8_whatever_the_header_says(self, api, charset):
        body = '{"saga": "s", "input": {"x": "é"}}'.encode()
        assert api.generic("POST", ROOT, body, f"application/json; charset={charset}").status_code == 201
        assert Execution.objects.get().input == {"x": "é"}

    def test_depth_up_to_the_limit_is_fine(self, api):
        body = b'{"saga":"s","input":{"x":' + b"[" * 50 + b"]" * 50 + b"}}"
        assert post(api, ROOT, body).status_code == 201

    def test_a_length_that_lies(self, api):
        """What is no number is no body."""
        for length in ("x", "0"):
            response = api.generic("POST", ROOT, b'{"saga": "s"}', "application/json", CONTENT_LENGTH=length)
            is_problem(response, 400, "invalid")

    def test_a_client_that_goes_away(self, api):
        class Gone:
            def read(self, *_size: int) -> bytes:
                raise OSError("connection reset")

            readline = read

        is_problem(api.generic("POST", ROOT, b"{}", "application/json", **{"wsgi.input": Gone()}), 400, "bad_request")
