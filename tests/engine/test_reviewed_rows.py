"""What was found by reading: queued steps beside children, in stopped executions, and under other code."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from saga_app import Child, GiveUp, Parallel, Saga, Wait, engine, executor
from saga_app.models import StepRecord
from saga_app.queue import inline
from tests import ledger
from tests.engine.drives import DATABASES
from tests.engine.queued_steps import arranged, settled
from tests.harness import DONE, OK, do, end, fail, now, rec, records
from tests.reading import child
from tests.shared_clock import clock

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]


def test_a_failed_step_beside_a_live_child() -> None:
    """An optional step fails while a child lives: who claims another step has to look at the whole group."""
    Saga("sub", Wait("go"))
    group = Parallel(a=Child("sub"), b=do("b", fail(GiveUp("no")), required=False), c=[do("c"), do("d")])
    x = settled(Saga("s", group).start())
    assert ledger.order() == ["b", "c", "d"]
    engine.signal(child(x, "sub"), "go")
    assert end(settled(x)) == DONE
