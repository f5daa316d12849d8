"""What a body may do to the transaction it shares with its record, and what then is the truth: our own commit hook."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from saga_app import Saga
from tests import ledger
from tests.engine.drives import DATABASES, drive
from tests.harness import DONE, OK, UNWOUND, do, end, error, ok, rec
from tests.script import Entry
from tests.site.models import Tag

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]


def tag(_call: Any) -> int:
    return Tag.objects.create(name="t").pk


def after_commit(hook: Any) -> Entry:
    """An entry: write a row, and have that done when it is committed."""
    return Entry(tag) >> Entry(lambda _call: transaction.on_commit(hook) or 7)


def boom() -> None:
    raise ValueError("the hook")


@pytest.mark.parametrize("last", [False, True])
def test_a_hook_that_raises(last: bool, caplog: pytest.LogCaptureFixture) -> None:
    """Design §8.3. It is committed by then: the step is completed, it is not run again, the log has the error."""
    rest = [] if last else [do("b")]
    x = drive(Saga("s", do("a", after_commit(boom), atomic=True, attempts=3), *rest).start())
    assert end(x) == DONE and rec(x, "a").output == 7
    assert (ledger.calls("a"), Tag.objects.count()) == (1, 1)
    assert "a commit hook of a raised" in caplog.text and "the hook" in caplog.text


def test_a_hook_sees_what_is_recorded() -> None:
    """Promise P3. A body's own hook runs when row and record are there, and not where they are not."""
    seen: list[str] = []

    def look() -> None:
        seen.append(rec(x, "a").status)

    x = Saga("s", do("a", after_commit(look), atomic=True)).start()
    drive(x)
    assert seen == ["completed"]
    y = Saga("t", do("a", after_commit(look) >> Entry(lambda _call: 1 / 0), atomic=True)).start()
    assert drive(y).status == "failed" and seen == ["completed"]


def rollback(_call: Any) -> None:
    transaction.set_rollback(True)


def test_a_body_that_takes_it_all_back() -> None:
    """Design §8.3. set_rollback is silent: nothing is raised and nothing is kept, so the attempt has failed."""
    x = drive(Saga("s", do("a", comp=OK), do("b", Entry(tag) >> Entry(rollback) >> ok(), atomic=True, comp=OK)).start())
    assert end(x) == UNWOUND and ledger.order() == ["a", "b", "~a"]
    assert Tag.objects.count() == 0 and "nothing of it was kept" in error(x, "b")


def test_a_body_that_takes_it_back_once() -> None:
    """It is an attempt like any other: where there are more, the next one may commit."""
    x = drive(Saga("s", do("a", Entry(tag) >> Entry(rollback), Entry(tag), atomic=True, attempts=2)).start())
    assert end(x) == DONE and (ledger.calls("a"), Tag.objects.count()) == (2, 1)
    assert [one["outcome"] for one in rec(x, "a").attempts] == ["rolled_back", "returned"]


def test_a_compensation_that_takes_it_all_back() -> None:
    """The same backwards: it is not compensated, and halts."""
    a = do("a", ok())

    @a.compensate(attempts=1, atomic=True)
    def undo() -> None:
        transaction.set_rollback(True)

    x = drive(Saga("s", a, do("b", Entry(lambda _call: 1 / 0))).start())
    assert end(x) == ("stuck", "stuck", "compensation_failed")
    assert "nothing of it was kept" in rec(x, "a").compensation_error.message


def test_a_part_of_it_may_be_taken_back() -> None:
    """A savepoint of the body's own is its own business."""

    def twice(_call: Any) -> int:
        Tag.objects.create(name="t")
        try:
            with transaction.atomic():
                Tag.objects.create(name="t")
        except IntegrityError:
            return Tag.objects.create(name="u").pk
        return 0

    x = drive(Saga("s", do("a", Entry(twice), atomic=True)).start())
    assert end(x) == DONE and Tag.objects.count() == 2
