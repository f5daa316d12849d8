"""The shop's pages: the counter where orders are placed, and one page per order."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import conditional_page, require_GET, require_http_methods, require_POST

from project.shop import books, faults, orders, outside
from project.shop.faults import OUTCOMES, WHAT_FOLLOWS, Fault
from project.shop.forms import OrderForm
from project.shop.models import Order, Product
from project.shop.progress import Progress, progress
from saga_app.models import Execution

NEWEST = 25


@require_http_methods(["GET", "HEAD", "POST"])
def counter(request: HttpRequest) -> HttpResponse:
    """Show the counter; or take an order, and with it start its saga: both, or neither."""
    form = OrderForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            order = form.save()
            orders.place(order)
        messages.success(request, f"Order {order.number} was placed.")
        return redirect(order)
    context = {
        "form": form,
        "products": Product.objects.all(),
        "outcomes": {title: [(fault, WHAT_FOLLOWS[fault]) for fault in group] for title, group in OUTCOMES.items()},
        "orders": _newest(),
        "stuck": _stuck(),
    }
    return render(request, "shop/counter.html", context, status=400 if form.errors else 200)


@require_GET
@never_cache
@conditional_page
def counter_live(request: HttpRequest) -> HttpResponse:
    """The list of orders alone, for the page that keeps itself up to date."""
    return render(request, "shop/_orders.html", {"orders": _newest(), "stuck": _stuck()})


@require_GET
def order_page(request: HttpRequest, number: str) -> HttpResponse:
    """One order: every step, and what the world outside has in its books."""
    return render(request, "shop/order.html", _about(get_object_or_404(Order, number=number)))


@require_GET
@never_cache
@conditional_page
def order_live(request: HttpRequest, number: str) -> HttpResponse:
    """The part of an order's page that changes."""
    return render(request, "shop/_order.html", _about(get_object_or_404(Order, number=number)))


@require_POST
def mend_everything(request: HttpRequest) -> HttpResponse:
    """Put the outside right for all orders, as when a provider says that its trouble is over."""
    outside.forget_everything()
    messages.success(request, "The bank, the warehouse, the suppliers and the post office work again.")
    return redirect("counter")


@require_POST
def mend(request: HttpRequest, number: str) -> HttpResponse:
    """Put the outside right for one order. What is stuck stays so until an operator resumes it."""
    order = get_object_or_404(Order, number=number)
    faults.mend(order)
    messages.success(request, "The bank, the warehouse and the post office work again for this order.")
    return redirect(order)


def _about(order: Order) -> dict[str, Any]:
    execution = orders.execution_of(order)
    seen = progress(order, execution)
    return {
        "order": order,
        "lines": order.lines.select_related("product"),
        "progress": seen,
        "entries": books.entries_of(order),
        "operator_url": operator_url(execution) if execution else "",
        "what_follows": WHAT_FOLLOWS[Fault(order.fault)],
        "can_be_mended": order.fault in faults.MENDABLE and not seen.is_over,
    }


def operator_url(execution: Execution) -> str:
    """Where an operator sees this execution."""
    return reverse("admin:saga_app_execution_change", args=[execution.pk])


def _stuck() -> int:
    return Execution.objects.stuck().filter(saga__in=orders.NAMES).count()


def _newest() -> list[Progress]:
    newest = list(Order.objects.prefetch_related("lines__product")[:NEWEST])
    executions = orders.executions_of(newest)
    return [progress(order, executions.get(order.pk)) for order in newest]
