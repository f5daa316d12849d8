"""Cases about one verb for many executions at once, from a list in the admin, carried out by real workers."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import pytest
from django.urls import reverse

from saga_app import Saga
from saga_app.models import Execution, OperatorBatch
from tests.acceptance.web import web
from tests.harness import ABANDONED, DONE, calls, clear, do, end, fail, held, now, ok, work

LIST = "admin:saga_app_execution_changelist"


def make_held(count: int) -> list[Execution]:
    """So many, each stuck at a step whose next attempt works."""
    clear()
    saga = Saga("held", do("pay", fail(OSError), ok(), attempts=1), on_failure="hold")
    made = [saga.start() for _ in range(count)]
    work(4, patience=600)
    return made


def post_action(verb: str, ticked: list[Execution], *, across: bool = False) -> Any:
    """What the list's form sends."""
    fields = {
        "action": f"batch_{verb}", "_selected_action": [str(one.pk) for one in ticked],
        "select_across": "1" if across else "0", "index": "0",
    }  # fmt: skip
    return web().post(reverse(LIST) + "?status=stuck", fields)


def confirm(**filled: str) -> OperatorBatch:
    """Begin the draft from its page."""
    batch = OperatorBatch.objects.get(status="draft")
    act = reverse("admin:saga_app_operatorbatch_act", args=[batch.pk, "begin"])
    assert web().post(act, {"version": batch.version, **filled}).status_code == 302
    return batch


def report(batch: OperatorBatch) -> Counter[str]:
    return Counter(batch.items.values_list("status", flat=True))


@pytest.mark.parametrize("count", [60, pytest.param(10_000, marks=[pytest.mark.slow, pytest.mark.timeout(1800)])])
def test_c25_a_bulk_action(count: int) -> None:
    """Case C25. All that match, far more than fit a form: frozen at once, carried out by workers, both numbers told."""
    xs = make_held(count)
    assert all(now(x).status == "stuck" for x in xs[:5])
    before = time.monotonic()
    answer = post_action("resume", xs[:50], across=True)
    assert answer.status_code == 302 and time.monotonic() - before < 10
    for x in xs[:10]:
        x.abandon(reason="by hand")
    batch = confirm(reason="fixed")
    work(4, patience=1500)
    assert Counter(end(x) for x in xs) == {DONE: count - 10, ABANDONED: 10}
    assert report(batch) == {"accepted": count - 10, "refused": 10}
    assert calls("pay") == 2 * count - 10


def test_c25_fifty_ticked_boxes() -> None:
    """Case C25. What was ticked, and nothing else."""
    xs = make_held(12)
    assert post_action("abandon", xs[:9]).status_code == 302
    batch = confirm(reason="too old", count="9")
    work(2)
    assert report(batch) == {"accepted": 9}
    assert Counter(end(x) for x in xs) == {ABANDONED: 9, held("step_failed"): 3}
