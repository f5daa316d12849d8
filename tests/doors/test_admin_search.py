"""What the search box finds: an id, a key, a signal's key, the beginning of keys; and that no term breaks the page."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from saga_app import Saga, Wait, testing
from saga_app.admin.search import search
from saga_app.core import registry
from saga_app.models import Execution
from tests.doors import every_state
from tests.doors.listed import EXECUTIONS, STUCK, listed, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_sagas():
    with registry.isolate():
        yield


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    return client


def keyed(*keys: str | None, saga: str = "order") -> list[Execution]:
    made = Saga(saga, every_state.act("reserve"))
    return [made.start(note="n", key=key) for key in keys]


def found(root: Client, term: str, address: str = EXECUTIONS) -> list[Any]:
    response = root.get(address, {"q": term})
    assert response.status_code == 200
    return [execution.pk for execution in response.context["cl"].result_list]


@pytest.mark.parametrize("term", ["{id}", "{hex}", "{{{id}}}", "order-1 <b>", "  order-1 <b> "])
def test_an_id_or_a_key(root: Client, term: str) -> None:
    execution = every_state.make("pending")
    every_state.make("completed")
    term = term.format(id=execution.pk, hex=execution.pk.hex)
    assert found(root, term) == [execution.pk]
    assert "1 execution" in text_of(root.get(EXECUTIONS, {"q": term}))


def test_exactly_that_key_before_those_that_begin_with_it(root: Client) -> None:
    """Of two sagas, too: each may have the key. Only when nothing is called so, the beginning counts."""
    one, eleven, twelve, _ = keyed("order-1", "order-11", "order-12", "other")
    (same,) = keyed("order-1", saga="refund")
    assert set(found(root, "order-1")) == {one.pk, same.pk}
    assert found(root, "order-1", STUCK) == []
    assert found(root, "order-11") == [eleven.pk]
    assert set(found(root, "order-")) == {one.pk, same.pk, eleven.pk, twelve.pk}
    assert found(root, "rder-1") == []


def test_what_keys_begin_with_comes_by_key(root: Client) -> None:
    """In the order of the keys, character by character, in capitals before others."""
    made = {key: execution.pk for key, execution in zip("bca", keyed("b-2", "b-10", "B-1"), strict=True)}
    assert found(root, "b-") == [made["c"], made["b"]]
    assert found(root, "B") == [made["a"]]


def test_the_key_of_a_signal(root: Client) -> None:
    """A payment's number, as the provider calls it, leads to whatever waited for it."""
    made = Saga("paid", Wait("paid"))
    first, second = testing.run(made), testing.run(made)
    first.signal("paid", 1, key="payment-7")
    second.signal("paid", 1, key="payment-70")
    assert found(root, "payment-7") == [first.pk]
    assert found(root, "payment-70") == [second.pk]
    assert found(root, "payment-") == []
    (named,) = keyed("payment-70")
    assert set(found(root, "payment-70")) == {second.pk, named.pk}


def test_blanks_alone_are_no_term(root: Client) -> None:
    (execution,) = keyed("a")
    every_state.make("stuck held")
    assert len(found(root, "   ")) == 2
    (blank,) = keyed(" a")
    assert found(root, " a") == [blank.pk, execution.pk]  # it may be meant with the blank, or without


def test_a_search_is_within_what_is_filtered(root: Client) -> None:
    stuck, done = every_state.make("stuck held"), every_state.make("completed")
    assert found(root, str(done.pk), STUCK) == []
    assert found(root, str(stuck.pk), STUCK) == [stuck.pk]
    assert listed(root, f"{EXECUTIONS}?q={stuck.pk}&status=completed") == []
    assert listed(root, f"{EXECUTIONS}?q={stuck.pk}&status=open") == [stuck.pk]


@pytest.mark.parametrize("term", ["order-1_", "order-_", "%", "_", "order%", "ORDER-1", "\\", "' OR 1=1 --", "\u202e"])
def test_a_term_has_no_wildcards(root: Client, term: str) -> None:
    keyed("order-11", "order-12", None)
    assert found(root, term) == []


def test_wildcards_in_keys_are_found_as_they_are(root: Client) -> None:
    made = {key: execution.pk for key, execution in zip("%_\\*", keyed("%x", "_x", "\\x", "*x"), strict=True)}
    for key, pk in made.items():
        assert found(root, key) == [pk]


@pytest.mark.parametrize("term", ["x" * 256, "x" * 100_000, "ß" * 5000, "\U0010ffff" * 255])
def test_a_very_long_term_finds_nothing(root: Client, term: str) -> None:
    keyed("x" * 255)
    assert found(root, term) == []


def test_the_longest_key_is_found(root: Client) -> None:
    (execution,) = keyed("ü" * 255)
    assert found(root, "ü" * 255) == [execution.pk] == found(root, "ü" * 254)


def test_nul_in_a_term_is_refused_in_words(root: Client) -> None:
    """Django's own form says so, and PostgreSQL is not asked, which cannot hold it."""
    keyed("a")
    page = root.get(EXECUTIONS, {"q": "a\x00"})
    assert "Null characters are not allowed." in page.content.decode()


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=12))
def test_any_term_is_answered_and_finds_its_own_key(db: None, term: str) -> None:
    """But for blanks around it, which are left away where nothing is called exactly that."""
    term = term.strip() or "x"
    key = term + "+"
    (execution,) = keyed(key)
    by_beginning, exact = (search(Execution.objects.order_by("pk"), one) for one in (term, key))
    assert execution in exact
    assert execution in by_beginning or Execution.objects.filter(key=term).exists()


def test_the_box_says_what_it_finds(root: Client) -> None:
    assert "A whole id, key or key of a signal." in text_of(root.get(EXECUTIONS))


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL's plans are asked for in test_admin_speed")
@pytest.mark.parametrize("term", ["order-1", "order", "nobody"])
def test_sqlite_answers_by_an_index_too(term: str) -> None:
    keyed("order-1", "order-2")
    with connection.cursor() as cursor:
        sql, params = search(Execution.objects.order_by("-created_at"), term).query.sql_with_params()
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}", params)
        plan = json.dumps(cursor.fetchall())
    assert "SEARCH" in plan and "SCAN" not in plan, plan
