"""A case told in this process: a ledger, sagas of its own, and the promises checked when it ends."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from saga_app import testing
from tests import ledger
from tests.promises import check_promises
from tests.shared_clock import clock


@pytest.fixture
def case(transactional_db: None) -> Iterator[None]:
    """Empty tables and an empty ledger; afterwards P1 to P9 hold for whatever ran."""
    ledger.prepare()
    try:
        with testing.isolate_sagas():
            yield
        check_promises()
    finally:
        clock.reset()
