"""`manage.py saga start`, `resume`, `abandon`, `cancel`: what they do, and what they refuse in one sentence."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from saga_app import Saga, engine, step, testing
from saga_app.models import Event, Execution
from tests.doors import http
from tests.doors.shell import misspelt, refusal, saga, saga_json

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with testing.isolate_sagas():
        yield
    testing.clock.release()


@step(attempts=1)
def echo(value: Any) -> Any:
    return value


class TestStart:
    @pytest.fixture(autouse=True)
    def known(self) -> None:
        http.buy()
        Saga("s", echo)

    def test_values_as_text(self):
        said = saga("start", "buy", "sku=A=1", "quantity=3", "total=1.50")
        execution = Execution.objects.get()
        assert said == f"Started buy as {execution.pk}.\n"
        assert execution.input == {"sku": "A=1", "quantity": 3, "total": Decimal("1.50")}

    def test_options_may_stand_anywhere(self):
        for words in (
            ["--key", "1", "buy", "sku=A1", "quantity=3"],
            ["buy", "--key", "2", "sku=A1", "quantity=3"],
            ["buy", "sku=A1", "--key", "3", "quantity=3"],
            ["buy", "sku=A1", "quantity=3", "--key=4"],
        ):
            saga("start", *words)
        assert sorted(Execution.objects.values_list("key", flat=True)) == ["1", "2", "3", "4"]
        assert {x.input["quantity"] for x in Execution.objects.all()} == {3}
        misspelt("start", "buy", "sku=A1", "--kee", "5")

    def test_the_input_as_json(self, monkeypatch):
        said = saga_json("start", "s", "--input-json", '{"value": {"deep": [1, null]}}')
        assert (said["is_new"], said["status"]) == (True, "pending")
        assert Execution.objects.get().input == {"value": {"deep": [1, None]}}
        monkeypatch.setattr(sys, "stdin", io.StringIO('{"value": "from stdin"}'))
        saga("start", "s", "--input-json", "-")
        assert Execution.objects.latest("created_at").input == {"value": "from stdin"}

    def test_a_key_names_one(self):
        saga("start", "s", "value=1", "--key", "k")
        assert "had started it before" in saga("start", "s", "value=1", "--key", "k")
        assert saga_json("start", "s", "value=1", "--key", "k")["is_new"] is False
        assert "another input" in refusal("start", "s", "value=2", "--key", "k")
        assert Execution.objects.count() == 1

    def test_who_starts_it(self):
        http.user(name="anna")
        saga("start", "s", "value=1", "--actor", "anna")
        assert Event.objects.get().actor.username == "anna"
        assert 'No user is called "bob"' in refusal("start", "s", "value=1", "--actor", "bob")
        saga("start", "s", "value=1")
        assert Event.objects.latest("id").actor is None

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["bye"], "buy"),
            (["buy"], "missing"),
            (["buy", "sku=A1", "quantity=many"], "quantity"),
            (["buy", "sku=A1", "quantity=1", "qty=1"], "qty"),
            (["s", "value"], "not name=value"),
            (["s", "=1"], "not name=value"),
            (["s", "--input-json", "{"], "no JSON"),
            (["s", "--input-json", "[]"], "takes an object"),
            (["s", "--input-json", "null"], "takes an object"),
            (["s", "--input-json", '{"value": NaN}'], "no JSON"),
            (["s", "--input-json", "[" * 100_000], "no JSON"),
            (["s", "value=1", "--input-json", '{"value": 1}'], "not as both"),
            (["s", "value=1", "--key", ""], "key"),
            (["s", "value=1", "--key", "x" * 256], "key"),
            (["s", "value=1", "--key", "\udcff"], "key"),
            (["\x1b[31m", "value=1"], "\\x1b"),
        ],
    )
    def test_what_does_not_fit(self, words, said):
        """One sentence, no traceback, nothing started."""
        assert said in refusal("start", *words)
        assert not Execution.objects.exists()


class TestVerbs:
    @pytest.mark.parametrize(("verb", "after"), [("resume", "running"), ("abandon", "failed"), ("cancel", "running")])
    def test_each(self, verb, after):
        http.user(name="anna")
        execution = http.stuck()
        said = saga(verb, execution.pk, "--reason", "the bank said so", "--actor", "anna")
        assert said == f"{verb}: accepted. {execution.pk} is {after}.\n"
        event = Event.objects.get(execution=execution, type=verb)
        assert (event.actor_name, event.reason) == ("anna", "the bank said so")

    @pytest.mark.parametrize("verb", http.VERBS)
    def test_json_for_programs(self, verb):
        execution = http.stuck()
        said = saga_json(verb, execution.pk, "--reason", "because")
        assert (said["id"], said["version"]) == (str(execution.pk), Execution.objects.get().version)

    @pytest.mark.parametrize("verb", http.VERBS)
    def test_a_refusal_is_a_sentence_and_changes_nothing(self, verb):
        execution = http.completed()
        before = Execution.objects.values().get()
        assert refusal(verb, execution.pk, "--reason", "because").startswith("It has ended: nothing about it changes")
        assert Execution.objects.values().get() == before

    def test_abandon_needs_a_reason(self):
        assert refusal("abandon", http.stuck().pk).startswith("Say why")

    @pytest.mark.parametrize("verb", http.VERBS)
    def test_a_version_that_is_past(self, verb):
        execution = http.stuck()
        engine.resume(execution, actor=http.user(name="anna"), reason="mended")
        testing.drain()
        said = refusal(verb, execution.pk, "--reason", "because", "--seen", execution.version)
        assert said.startswith("anna was first")
        saga(verb, execution.pk, "--reason", "because", "--seen", Execution.objects.get().version)

    @pytest.mark.parametrize("verb", http.VERBS)
    def test_what_is_not_there(self, verb):
        assert "no id" in refusal(verb, "order-1", "--reason", "x")
        assert "01890a5d" in refusal(verb, "01890a5d-ac96-774b-bcce-b302099a8057", "--reason", "x")
        assert "nobody" in refusal(verb, http.stuck().pk, "--reason", "x", "--actor", "nobody")
        misspelt(verb)
