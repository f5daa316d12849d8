"""In a TestCase's transaction: a database error of user code is that call's own, and leaves the test its database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from saga_app import Happened, Saga, step, testing
from tests.site.models import Tag

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """Sagas of its own, and a name that is taken."""
    with testing.isolate_sagas():
        Tag.objects.create(name="taken")
        yield


def take() -> int:
    return Tag.objects.create(name="taken").pk


def fine() -> int:
    return 1


def saga(
    *, body: Callable[[], Any] = fine, undo: Callable[[], Any] = fine, find: Any = None, n: Callable[[], Any] = fine
) -> Saga[Any]:
    """Two steps: the second fails, and its compensation needs a result that only its reconcile can know."""

    @step(attempts=1)
    def a(n: int) -> None:
        body()

    a.compensate(attempts=1)(undo)

    @step(attempts=1)
    def b() -> None:
        raise ValueError

    @b.compensate
    def undo_b(result: Any) -> None:
        pass

    b.reconcile(find or (lambda: Happened(1)))
    return Saga("s", a.bind(n=n), b)


@pytest.mark.parametrize(
    ("where", "ends"),
    [
        ("body", ("failed", "completed")),
        ("n", ("failed", "not_applicable")),
        ("undo", ("stuck", "stuck")),
        ("find", ("stuck", "stuck")),
    ],
)
def test_it_is_told_as_an_error_of_that_call(where: str, ends: tuple[str, str]) -> None:
    """Design §7.10. As where nothing is open around it: recorded, and the execution goes on from there."""
    x = testing.run(saga(**{where: take}))
    assert (x.status, x.rollback_status) == ends
    assert any("IntegrityError" in record.attempts_text for record in x.steps.all())
    assert connection.in_atomic_block and not connection.needs_rollback
    Tag.objects.create(name="free")
    assert Tag.objects.count() == 2


def test_one_that_is_swallowed() -> None:
    """Design §7.10. A body that goes on after it is a body that returned; who runs after it has a database."""

    def swallow() -> None:
        with suppress(IntegrityError):
            take()

    x = testing.run(saga(body=swallow))
    assert x.steps.get(path="a").status == "completed" and Tag.objects.count() == 1


def test_what_a_body_kept_from_it() -> None:
    """Design §7.10. What it wrote outside the block that failed is kept, as it would be anywhere else."""

    def careful() -> None:
        Tag.objects.create(name="kept")
        with suppress(IntegrityError), transaction.atomic():
            take()

    testing.run(saga(body=careful))
    assert set(Tag.objects.values_list("name", flat=True)) == {"taken", "kept"}
