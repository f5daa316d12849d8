"""What docs/control_flow.md shows is real: its blocks are run as they stand there."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from datetime import timedelta
from types import ModuleType
from typing import Any

import pytest

from saga_app import testing
from saga_app.core.seconds import seconds
from saga_app.models import Execution
from tests.house.source import ROOT
from tests.shared_clock import clock

pytestmark = pytest.mark.django_db


@pytest.fixture
def shown() -> Iterator[dict[str, Any]]:
    """The page's blocks, run one after the other in one module."""
    text = (ROOT / "docs" / "control_flow.md").read_text()
    module = ModuleType("shown_in_docs")  # dataclasses are stored by the module they stand in
    sys.modules[module.__name__] = module
    try:
        with testing.isolate_sagas():
            for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
                exec(compile(block, "docs/control_flow.md", "exec"), module.__dict__)  # noqa: S102 - our own page
            yield module.__dict__
    finally:
        del sys.modules[module.__name__]
        clock.reset()


def ended(execution: Execution) -> Any:
    """What it returned, once it is known to be completed."""
    assert execution.status == "completed", execution.error
    return execution.output


def paths(execution: Execution) -> list[str]:
    """Its records, in the order they started."""
    return [one.path for one in execution.steps.all()]


def test_choosing(shown: dict[str, Any]) -> None:
    """One way of each, and one name after the branch."""
    assert ended(testing.run(shown["choosing"], total=150, method="card")) == "card"
    by_invoice = testing.run(shown["choosing"], total=50, method="bitcoin")
    assert ended(by_invoice) == "invoice"
    assert "gift_wrap" not in paths(by_invoice)


def test_looping(shown: dict[str, Any]) -> None:
    """The results of a loop come in the order of its items."""
    execution = testing.run(shown["looping"], parcels=["a", "b"])
    assert ended(execution) == ["packed a", "packed b"]
    assert paths(execution).count("more_pages[2]/fetch_page") == 1


def test_side_by_side(shown: dict[str, Any]) -> None:
    """What follows a group sees what its branches provide."""
    assert paths(testing.run(shown["trip"]))[-1] == "print_label"


def test_waiting(shown: dict[str, Any], django_user_model: Any) -> None:
    """A day, a parcel, a person."""
    boss = django_user_model.objects.create_superuser("boss")
    clock.set(clock.now())
    execution = testing.run(shown["waiting"])
    execution.signal("parcel_back", {"shelf": 3}, key="scan-991")
    clock.forward(seconds(timedelta(days=1), "a day"))
    testing.drain()
    execution.approve("refund_ok", actor=boss, values={"percent": 50})
    testing.drain()
    execution.refresh_from_db()
    ended(execution)
    decision = execution.steps.get(path="refund_ok").output
    assert (decision.approved, decision.input) == (True, shown["Refund"](50))


def test_children(shown: dict[str, Any]) -> None:
    """What a child returns is what its node provides."""
    assert ended(testing.run(shown["building"])) == "car"


def test_months(shown: dict[str, Any]) -> None:
    """Three months, each behind a milestone."""
    clock.set(clock.now())
    execution = testing.run(shown["subscription"])
    for _ in range(3):
        clock.forward(seconds(timedelta(days=30), "a month"))
        testing.drain()
    execution.refresh_from_db()
    ended(execution)
    assert paths(execution).count("month[2]/month_paid") == 1
