"""Whatever JSON a program sends, and whatever a saga declares as its input: never a 5xx, and all or nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

import pytest
from django import forms
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from rest_framework import serializers

from saga_app import Saga, step, testing
from saga_app.models import Event, Execution
from tests.doors import http
from tests.doors.http import PROBLEM, ROOT, post
from tests.site.models import Color, Order

pytestmark = pytest.mark.django_db
SHARED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@step
def nothing() -> None:
    """The input is what is tested."""


@dataclass
class Line:
    sku: str
    quantity: int = 1


@dataclass
class Everything:
    number: int = 0
    ratio: float = 0.0
    amount: Decimal = Decimal(0)
    flag: bool = False
    text: str = ""
    moment: datetime | None = None
    day: date | None = None
    at: time | None = None
    wait: timedelta | None = None
    ref: UUID | None = None
    color: Color | None = None
    size: Literal["S", "M", 3] = "S"
    either: int | str | None = None
    lines: list[Line] = field(default_factory=list)
    pair: tuple[int, Decimal] | None = None
    names: set[str] = field(default_factory=set)
    rates: dict[int, Decimal] = field(default_factory=dict)
    raw: bytes = b""
    anything: Any = None


class AForm(forms.Form):
    number = forms.IntegerField(required=False)
    amount = forms.DecimalField(required=False, max_digits=8, decimal_places=2)
    text = forms.CharField(required=False, max_length=20)
    moment = forms.DateTimeField(required=False)
    wait = forms.DurationField(required=False)
    order = forms.ModelChoiceField(Order.objects.all(), required=False)
    orders = forms.ModelMultipleChoiceField(Order.objects.all(), required=False)
    anything = forms.JSONField(required=False)


class ASerializer(serializers.Serializer):
    number = serializers.IntegerField(required=False)
    amount = serializers.DecimalField(8, 2, required=False)
    text = serializers.CharField(required=False, max_length=20)
    moment = serializers.DateTimeField(required=False)
    order = serializers.PrimaryKeyRelatedField(queryset=Order.objects.all(), required=False)
    lines = serializers.ListField(child=serializers.DictField(), required=False)
    anything = serializers.JSONField(required=False)


INPUTS = {"dataclass": Everything, "form": AForm, "serializer": ASerializer}
NAMES = sorted(
    {*Everything.__dataclass_fields__, *AForm.base_fields, *ASerializer().fields, "strange", "", "a.b", "\x00"}
)

odd = st.sampled_from(
    [
        "", " ", "0", "-0", "1e400", "1e-400", "NaN", "-Infinity", "9" * 400, "0x10", "1_000", "\u0663", "true", "null",
        "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2024-02-30", "24:00", "RED", "[]", "{}", "[" * 5_000,
        "\x00", "\ud800", "\u202e", "x" * 10_000, "00000000-0000-0000-0000-000000000000",
        10**400, -(10**18), 2**63, 1e300, -0.0, 5e-324, [[]], [{}], {"": None}, {"1": {"1": []}},
    ]
)  # fmt: skip
leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text() | odd
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3))


PARTS = ["version", "reason", "path", "happened", "output", "revision", "gate", "values", "key", "name", "payload", "x"]


@pytest.fixture
def api():
    return http.client(
        "view", "start", "resume", "abandon", "cancel", "suspend", "unwind", "skip", "resolve", "rerun", "fork", "move",
        "signal",
    )  # fmt: skip


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with testing.isolate_sagas():
        for name, declared in INPUTS.items():
            Saga(name, nothing, input=declared)
        yield


def settles(response: Any, executions: int, events: int) -> None:
    """Either something was started, and said so, or nothing was, and a problem says why."""
    if response.status_code in (200, 201):
        assert response["Location"]
        execution = Execution.objects.get(pk=response.json()["id"])
        assert isinstance(execution.input, dict), "what was accepted can be read back"
        return
    assert 400 <= response.status_code < 500, response.content
    assert response["Content-Type"] == PROBLEM
    assert response.content.isascii()
    assert (Execution.objects.count(), Event.objects.count()) == (executions, events)


@SHARED
@given(saga=st.sampled_from(sorted(INPUTS)), input_=st.dictionaries(st.sampled_from(NAMES), values, max_size=3))
@example("form", {"order": [1]})
@example("form", {"moment": [1]})
@example("form", {"moment": 5, "text": {}})
@example("form", {"orders": {"a": 1}})
@example("serializer", {"order": 2**70})
@example("form", {"order": 2**70})
@example("dataclass", {"lines": [{"sku": "A", "quantity": "x"}]})
@example("dataclass", {"rates": {"1": "1", "01": "2"}})
def test_any_input(api, saga, input_):
    before = Execution.objects.count(), Event.objects.count()
    settles(post(api, ROOT, json.dumps({"saga": saga, "input": input_}).encode()), *before)


@SHARED
@given(body=st.dictionaries(st.sampled_from(["saga", "input", "key", "x"]), values, max_size=4) | values)
def test_any_start(api, body):
    before = Execution.objects.count(), Event.objects.count()
    settles(post(api, ROOT, json.dumps(body).encode()), *before)


@SHARED
@given(body=st.binary(max_size=200))
def test_any_bytes(api, body):
    before = Execution.objects.count(), Event.objects.count()
    settles(post(api, ROOT, body), *before)


@SHARED
@given(
    verb=st.sampled_from([verb for verb in http.ALL_VERBS if verb not in ("rerun", "fork")]),  # they take what ended
    body=st.dictionaries(st.sampled_from(PARTS), values, max_size=4) | values,
)
def test_any_body_of_a_verb(api, verb, body):
    execution = Execution.objects.first() or http.completed()  # which refuses every verb
    before = Execution.objects.values().get(pk=execution.pk)
    response = post(api, http.one(execution, verb), json.dumps(body).encode())
    assert 400 <= response.status_code < 500, response.content
    assert response["Content-Type"] == PROBLEM
    assert Execution.objects.values().get(pk=execution.pk) == before


@SHARED
@given(
    query=st.dictionaries(st.sampled_from(["saga", "status", "key", "stuck_reason", "cursor", "page_size"]), st.text())
)
def test_any_query(query):
    api = http.Client()
    api.force_login(http.User.objects.filter(username="view").first() or http.user("view"))
    query = {name: text.encode("utf-8", "surrogatepass") for name, text in query.items()}
    assert api.get(ROOT, query).status_code in {200, 400}
