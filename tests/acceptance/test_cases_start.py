"""Cases about starting: inside transactions that commit or do not, and with keys."""

from __future__ import annotations

from contextlib import suppress

import pytest
from django.db import IntegrityError, transaction

from saga_app import KeyConflict, Saga
from saga_app.models import Execution
from tests.harness import DONE, calls, do, elsewhere, end, fail, held, ok, race, work
from tests.site.models import Order


def test_c02_a_worker_does_not_see_what_is_not_committed() -> None:
    """Case C02. Worker picks the run up before the web request commits."""
    s = Saga("s", do("load", ok(lambda order_id: Order.objects.get(pk=order_id).pk), takes="order_id"))
    with transaction.atomic():
        x = s.start(order_id=Order.objects.create().pk)
        elsewhere(work)
        assert calls("load") == 0
    work()
    assert end(x) == DONE and calls("load") == 1


def test_c02_a_verb_happens_when_it_commits() -> None:
    """Case C02. The same of a resume, and of a cancel that is rolled back."""
    y = Saga("h", do("b", fail(OSError), ok()), on_failure="hold").start()
    work()
    assert end(y) == held("step_failed")
    with transaction.atomic():
        y.resume(reason="fixed")
        elsewhere(work)
        assert elsewhere(lambda: end(y)) == held("step_failed") and calls("b") == 1
    work()
    assert end(y) == DONE and calls("b") == 2

    z = Saga("c", do("d")).start()
    with suppress(ValueError), transaction.atomic():
        z.cancel()
        raise ValueError
    work()
    assert end(z) == DONE and calls("d") == 1


def test_c05_a_rollback_leaves_nothing_behind() -> None:
    """Case C05. Phantom run after a rollback."""
    s = Saga("s", do("a"))
    with suppress(IntegrityError), transaction.atomic():
        x = s.start()
        assert x.pk and x.is_new
        raise IntegrityError
    work()
    assert not Execution.objects.exists() and calls("a") == 0
    with transaction.atomic():
        with suppress(ValueError), transaction.atomic():
            s.start(key="in")
            raise ValueError
        keep = s.start(key="out")
    work()
    assert [e.pk for e in Execution.objects.all()] == [keep.pk] and end(keep) == DONE and calls("a") == 1
    assert s.start(key="in").is_new and not s.start(key="out").is_new


def test_c23_one_key_is_one_execution() -> None:
    """Case C23. The same key sent twice at the same time."""
    s, other = Saga("s", do("a", takes="n")), Saga("other", do("a", takes="n"))
    xs = race(*[lambda: s.start(n=1, key="inv-7")] * 20)
    work(4)
    assert len({x.pk for x in xs}) == 1 and sum(x.is_new for x in xs) == 1 and calls("a") == 1
    assert s.start(n=1, key="inv-7").pk == xs[0].pk  # after it ended, too
    assert Saga("s", do("b", takes="n"), revision=2).start(n=1, key="inv-7").pk == xs[0].pk  # over all revisions
    assert other.start(n=1, key="inv-7").is_new  # a key is one saga's
    with pytest.raises(KeyConflict) as e:
        s.start(n=2, key="inv-7")
    assert "n" in e.value.paths and "n" in str(e.value)
    for _ in range(2):
        with transaction.atomic():
            s.start(n=1, key="k2")
            Order.objects.create()
    assert Order.objects.count() == 2 and Execution.objects.filter(key="k2").count() == 1
