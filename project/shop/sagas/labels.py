"""The label of a parcel, printed by the workers beside the printer: those of the queue `labels`."""

from __future__ import annotations

from project.shop import warehouse
from saga_app import Context, step


@step(provides="label", queue="labels", title="Print a label")
def print_label(order_id: int, number: int, ctx: Context) -> str:
    """Print it, once, however often this is called."""
    return warehouse.print_label(order_id, number, idempotency_key=ctx.idempotency_key)


@print_label.compensate(attempts=10)
def void_label(ctx: Context) -> None:
    """Make it worthless, printed or not."""
    warehouse.void_label(original_key=ctx.forward_idempotency_key)
