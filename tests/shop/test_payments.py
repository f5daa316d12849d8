"""The bank keeps its own books: once per key, whatever happens to us."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path

import pytest
from django.db import transaction

from project.shop import outside, payments

CARD = "card-1"
TEN = Decimal("10.00")


def test_a_repeated_charge_returns_the_first_one() -> None:
    first = payments.charge(CARD, TEN, idempotency_key="k")
    assert payments.charge(CARD, TEN, idempotency_key="k") == first
    assert [(charge.id, charge.amount) for charge in payments.charges()] == [(first, TEN)]


def test_another_key_is_another_charge() -> None:
    assert payments.charge(CARD, TEN, idempotency_key="a") != payments.charge(CARD, TEN, idempotency_key="b")


def test_a_key_cannot_be_used_for_another_charge() -> None:
    payments.charge(CARD, TEN, idempotency_key="k")
    with pytest.raises(payments.PaymentError, match="another charge"):
        payments.charge(CARD, Decimal("10.01"), idempotency_key="k")


def test_a_declined_card_is_not_charged() -> None:
    outside.tell(CARD, "decline", times=outside.ALWAYS)
    with pytest.raises(payments.CardDeclined):
        payments.charge(CARD, TEN, idempotency_key="k")
    assert payments.charges() == []


def test_a_refund_is_made_once() -> None:
    payments.charge(CARD, TEN, idempotency_key="k")
    payments.refund(original_key="k")
    payments.refund(original_key="k")
    assert [charge.refunded for charge in payments.charges(card=CARD)] == [TEN]


def test_a_refund_closes_its_key_to_a_charge_that_is_late() -> None:
    """Cancel before create: the compensation ran while the charge was still on its way."""
    payments.refund(original_key="k")
    with pytest.raises(payments.KeyClosed):
        payments.charge(CARD, TEN, idempotency_key="k")
    assert payments.charges() == []


def test_a_refund_is_refused_until_the_bank_is_told_to_accept() -> None:
    payments.charge(CARD, TEN, idempotency_key="k")
    outside.tell(CARD, "refuse refund", times=outside.ALWAYS)
    for _ in range(2):
        with pytest.raises(payments.RefundRefused):
            payments.refund(original_key="k")
    outside.forget(CARD)
    payments.refund(original_key="k")
    assert payments.charges()[0].refunded == TEN


def test_find_knows_what_was_charged() -> None:
    assert payments.find("k") is None
    charge_id = payments.charge(CARD, TEN, idempotency_key="k")
    found = payments.find("k")
    assert found
    assert (found.id, found.card, found.amount, found.refunded) == (charge_id, CARD, TEN, Decimal(0))


@pytest.mark.django_db(transaction=True)
def test_no_transaction_of_ours_takes_a_charge_back() -> None:
    with transaction.atomic():
        payments.charge(CARD, TEN, idempotency_key="k")
        transaction.set_rollback(True)
    assert payments.find("k")


def test_it_charges_before_it_hangs_and_hangs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(payments, "_NEVER_ANSWERS", 0.3)
    outside.tell(CARD, "hang", times=1)
    took = []
    for _ in range(2):
        began = time.monotonic()
        payments.charge(CARD, TEN, idempotency_key="k")
        took.append(time.monotonic() - began)
    assert took[0] >= 0.3 > took[1]
    assert len(payments.charges()) == 1


def test_the_charge_stands_when_the_caller_is_killed(outside_books: Path) -> None:
    outside.tell(CARD, "kill", times=1)
    code = "from decimal import Decimal; from project.shop import payments; "
    code += f"payments.charge({CARD!r}, Decimal('10.00'), idempotency_key='k')"
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "project.settings", "SHOP_DATA": str(outside_books.parent)}
    assert subprocess.run([sys.executable, "-c", code], env=env, check=False).returncode == -signal.SIGKILL
    assert payments.find("k")
    assert subprocess.run([sys.executable, "-c", code], env=env, check=False).returncode == 0
    assert len(payments.charges()) == 1
