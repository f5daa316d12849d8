"""Every way an order can go, with the real engine and the real books of everybody."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal

import pytest
from django.core import mail
from django.utils import timezone

from project.shop import catalogue, faults, orders, payments, warehouse
from project.shop.faults import Fault
from project.shop.models import CreditNote, Invoice, Product
from project.soak import books
from project.soak.audit import audit
from saga_app import engine, testing
from saga_app.models import Execution
from tests.shop.placing import carried, order_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def shelf() -> Iterator[None]:
    catalogue.stock_the_shelf()
    yield
    testing.clock.release()


@pytest.mark.parametrize(
    ("fault", "status", "rollback", "stuck"),
    [
        (Fault.NONE, "completed", "", ""),
        (Fault.SHIPPING_FAILS_ONCE, "completed", "", ""),
        (Fault.MAIL_BOUNCES, "completed", "", ""),
        (Fault.CARD_DECLINED, "failed", "completed", ""),
        (Fault.INVOICE_REFUSED, "failed", "completed", ""),
        (Fault.SHIPPING_CLOSED, "waiting", "", ""),
        (Fault.REFUND_REFUSED, "stuck", "stuck", "compensation_failed"),
        (Fault.SHIPPING_FAILS, "stuck", "", "failed_past_pivot"),
    ],
)
def test_an_order_ends_as_its_fault_says(fault: Fault, status: str, rollback: str, stuck: str) -> None:
    execution = carried(order_of(fault=fault))
    assert (execution.status, execution.rollback_status, execution.stuck_reason) == (status, rollback, stuck)
    if status in {"completed", "failed"}:
        assert audit(books.read()) == []


def test_a_completed_order_is_in_every_book() -> None:
    order = order_of(pieces=2)
    execution = carried(order)
    assert [step.error for step in execution.steps.all() if step.status != "completed"] == []
    assert [(c.amount, c.refunded) for c in payments.charges(card=order.card)] == [(order.total, Decimal(0))]
    assert Invoice.objects.get(order=order).total == order.total
    assert len(warehouse.parcels(order.pk)) == 1
    assert Product.objects.get(sku="T-01").stock == 58
    assert [message.subject for message in mail.outbox] == [f"Thank you for order {order.number}"]


def test_out_of_stock_fails_with_nothing_to_undo() -> None:
    order = order_of("K-03", 2)
    execution = carried(order)
    assert (execution.status, execution.rollback_status) == ("failed", "not_applicable")
    assert payments.charges(card=order.card) == []
    assert execution.error
    assert "out of stock" in execution.error.text


@pytest.mark.parametrize("fault", [Fault.REFUND_REFUSED, Fault.SHIPPING_FAILS])
def test_what_is_stuck_goes_on_when_the_outside_is_mended_and_an_operator_resumes(fault: Fault) -> None:
    order = order_of(fault=fault)
    execution = carried(order)
    faults.mend(order)
    engine.resume(execution, reason="mended")
    testing.drain()
    execution.refresh_from_db()
    assert execution.status == ("failed" if fault == Fault.REFUND_REFUSED else "completed")
    assert audit(books.read()) == []


def test_a_cancel_after_the_invoice_is_answered_by_a_credit_note(monkeypatch: pytest.MonkeyPatch) -> None:
    """The customer changes their mind while the invoice is written: nothing is past the pivot yet."""
    order = order_of()
    execution = orders.place(order)
    write = Invoice.save

    def cancel_meanwhile(invoice: Invoice, **options: object) -> None:
        write(invoice)
        engine.cancel(execution, reason="changed their mind")

    monkeypatch.setattr(Invoice, "save", cancel_meanwhile)
    testing.drain()
    execution.refresh_from_db()
    assert (execution.status, execution.rollback_status) == ("cancelled", "completed")
    assert CreditNote.objects.get().total == order.total
    assert audit(books.read()) == []


def spoil_stock() -> None:
    Product.objects.filter(sku="T-01").update(stock=61)


def spoil_ledger() -> None:
    payments.charge("card-of-nobody", Decimal("1.00"), idempotency_key="of nobody")


def spoil_parcels() -> None:
    warehouse.ship(999)


def spoil_invoices() -> None:
    Invoice.objects.update(total=Decimal("0.01"))


def spoil_executions() -> None:
    Execution.objects.update(status="running", due_at=timezone.now())


@pytest.mark.parametrize(
    ("spoil", "checks"),
    [
        (spoil_stock, {"stock"}),
        (spoil_ledger, {"charges", "sums"}),
        (spoil_parcels, {"parcels"}),
        (spoil_invoices, {"invoices", "sums"}),
        (spoil_executions, {"executions"}),
    ],
)
def test_the_audit_reads_the_real_books(spoil: Callable[[], None], checks: set[str]) -> None:
    carried(order_of())
    assert audit(books.read()) == []
    spoil()
    assert checks <= {difference.check for difference in audit(books.read())}
