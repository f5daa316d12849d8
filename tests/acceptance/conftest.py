"""Each case: an empty ledger, sagas of its own, real processes; and when it ends the promises are checked."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from saga_app import testing
from tests import harness, ledger
from tests.promises import check_promises


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests here start processes, and use all databases."""
    for item in items:
        if "acceptance" in item.path.parts:
            item.add_marker(pytest.mark.acceptance)
            item.add_marker(pytest.mark.django_db(transaction=True, databases=["default", "outside", "other"]))


@pytest.fixture(autouse=True)
def case(transactional_db: None) -> Iterator[None]:
    """One case."""
    harness.LOG.unlink(missing_ok=True)
    handler = logging.FileHandler(harness.LOG)
    handler.setFormatter(logging.Formatter(harness.ENTRY + "%(levelname)s %(process)d %(name)s %(message)s"))
    logging.getLogger().addHandler(handler)
    ledger.prepare()
    harness.began()
    try:
        with testing.isolate_sagas():
            yield
        check_promises()
    finally:
        harness.clock.reset()
        logging.getLogger().removeHandler(handler)
        handler.close()
