"""A model instance is stored as a reference: never a copy, read again at each use."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.db import OperationalError, models
from django.db.models import Model
from django.test.utils import isolate_apps
from django.utils.functional import SimpleLazyObject

from saga_app import codec
from saga_app.core.errors import Undecodable, UnsupportedValue
from tests.engine.codec_values import Later, Point, Seat
from tests.site.models import Order, Question

pytestmark = pytest.mark.django_db(databases=["default", "other"])


def back(value: object) -> Any:
    return codec.decode(codec.encode(value))


def test_a_reference_is_read_again() -> None:
    """What another transaction wrote in the meantime is seen, and nothing of the old row is kept. Case C31."""
    question = Question.objects.create(title="old", pk=uuid4())
    text = codec.encode({"q": question})
    Question.objects.update(title="new")
    assert "old" not in text
    found = codec.decode(text)["q"]
    assert found == question
    assert found.title == "new"


@pytest.mark.parametrize("make", [Order, Question, Later, lambda **row: Order(**row, sku="x" * 40)])
def test_any_saved_row(make: Any) -> None:
    """Integer keys, UUID keys and proxies come back as the class they were. Case C31, Case C47."""
    row = make()
    row.save()
    found = back([row])[0]
    assert found == row
    assert type(found) is type(row)


def test_a_deferred_row_comes_back_whole() -> None:
    """What was not loaded when it was stored is loaded when it is read. Case C31."""
    Order.objects.create(sku="B2")
    found = back(Order.objects.only("quantity").get())
    assert found.get_deferred_fields() == set()
    assert found.sku == "B2"


def test_a_composite_key_and_a_manager_that_hides_rows() -> None:
    """The key is stored by the codec itself, and the row is found although the default manager hides it. Case C47."""
    seat = Seat(row="A", number=7)
    seat.save()
    assert back(seat) == seat
    assert codec.plain(codec.encode(seat)) == "site.Seat A-7"


def test_a_lazy_user() -> None:
    """request.user is a reference to the user; nobody who is logged in is no value."""
    user = User.objects.create(username="op")
    assert back(SimpleLazyObject(lambda: user)) == user
    with pytest.raises(UnsupportedValue):
        codec.encode(SimpleLazyObject(AnonymousUser))


def test_rows_deep_inside() -> None:
    """References stand wherever a value may: in a dataclass, in a set, as a key."""
    one, two = Order.objects.create(), Order.objects.create()
    value = {"point": Point(one, {two}), one: (two,)}
    assert back(value) == value


def test_what_no_other_process_could_find() -> None:
    """An unsaved or deleted row is refused, with its place. Case C31."""
    gone = Order.objects.create()
    gone.delete()
    for row in [Question(title="unsaved"), Order(pk=5), gone]:
        with pytest.raises(UnsupportedValue, match=r"^q: this site\.\w+ is not saved"):
            codec.encode({"q": row})


@isolate_apps("tests.site")
def test_a_model_that_is_not_installed() -> None:
    """A class that only looks like the installed model, as in a migration, is refused."""

    class Order(models.Model):  # noqa: DJ008 - nobody looks at it
        class Meta:
            app_label = "site"

    row = Order(pk=1)
    row._state.adding = False
    with pytest.raises(UnsupportedValue, match=r"site\.Order is not the model"):
        codec.encode(row)


def test_a_row_that_is_gone() -> None:
    """The error says which row, where in the value, and that it is the row that is missing. Case C31."""
    question = Question.objects.create(title="x")
    text = codec.encode({"deep": [question]})
    key = question.pk
    question.delete()
    with pytest.raises(Undecodable) as caught:
        codec.decode(text)
    assert (caught.value.path, caught.value.gone) == ("deep[0]", True)
    assert f"site.Question {key}" in str(caught.value)


@pytest.mark.parametrize(
    ("before", "after"),
    [("site.Order", "site.Ordre"), ("site.Order", "shop.Order"), ('"default"', '"closed"'), ("[5]", "x")],
)
def test_a_reference_that_leads_nowhere(before: str, after: str) -> None:
    """A model, an app or a database that went away: a clear error, and the row is not said to be gone."""
    text = codec.encode({"q": Order.objects.create(pk=5)}).replace("5]", '"[5]"]').replace(before, after)
    with pytest.raises(Undecodable) as caught:
        codec.decode(text)
    assert (caught.value.path, caught.value.gone) == ("q", False)


class Replica:
    """Reads go to "other", which lags behind; writes go to "default"."""

    def db_for_read(self, model: type[Model], **_hints: object) -> str:
        return "other"

    def db_for_write(self, model: type[Model], **_hints: object) -> str:
        return "default"


def test_a_replica_is_not_believed(settings: Any) -> None:
    """A row that was read from a replica is read again where it is written. Case C44."""
    Order.objects.using("other").create(pk=1, sku="stale")
    Order.objects.using("default").create(pk=1, sku="fresh")
    settings.DATABASE_ROUTERS = [Replica()]
    row = Order.objects.get(pk=1)
    assert row.sku == "stale"
    assert back(row).sku == "fresh"


def test_a_row_of_another_database() -> None:
    """Without a router a row is read again from the database it came from. Case C44."""
    row = Order.objects.using("other").create(sku="there")
    found = back(row)
    assert found.sku == "there"
    assert found._state.db == "other"


def test_an_error_of_the_database_passes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lost connection is not the value's fault: it must not look as if the value could never be read."""
    text = codec.encode(Order.objects.create())

    def broken(*_args: object, **_options: object) -> None:
        raise OperationalError("server closed the connection")

    monkeypatch.setattr(models.QuerySet, "get", broken)
    with pytest.raises(OperationalError):
        codec.decode(text)
