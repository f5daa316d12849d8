"""`manage.py soak`: real orders through clusters that are killed all the time; then the audit."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser, call_command

from project.processes import interrupt_once
from project.shop import importer
from project.shop.models import Order
from project.soak import books, plan, report
from project.soak.audit import audit
from project.soak.line import Line
from project.soak.screen import table

DELIVERIES = 20  # the file's stock is one day's, its orders are two years': with less, nearly all would find none left
SHOWN = 20


class Command(BaseCommand):
    """Runs on the database of the settings, which must be empty: `python -m project.soak` provides one."""

    help = "Run real orders through a cluster that is killed all the time, then audit every book."

    def add_arguments(self, parser: CommandParser) -> None:
        """Where the orders are, and what the run is called."""
        parser.add_argument("--orders", type=Path, required=True)
        parser.add_argument("--title", default="soak")

    def handle(self, *args: Any, orders: Path, title: str, **options: Any) -> None:
        """Import, run, audit, tell."""
        interrupt_once()
        call_command("migrate", verbosity=0)
        began = time.monotonic()
        line = Line(title, _import(orders))
        went_through = line.run()
        found = books.read()
        differences = audit(found)
        self.stdout.write("\n" + table(title, report.rows(line, found, time.monotonic() - began)) + "\n")
        for difference in differences[:SHOWN]:
            self.stderr.write(str(difference))
        if not went_through:
            raise CommandError("nothing moved any more:\n" + line.last_words())
        if differences:
            raise CommandError(f"{len(differences)} differences")
        self.stdout.write(
            self.style.SUCCESS(
                "0 differences: stock, ledger, invoices, parcels, returns and purchases balance to the cent."
            )
        )


def _import(folder: Path) -> list[Order]:
    if Order.objects.exists():
        raise CommandError("there are orders in this database; the soak needs an empty one")
    try:
        goods, wishes = importer.read(folder)
    except importer.ImportProblem as problem:
        raise CommandError(str(problem)) from problem
    entered = importer.enter(goods, wishes, deliveries=DELIVERIES)
    for order in entered:
        order.way, order.fault = plan.way_of(order.number), plan.fault_of(order.number)
    Order.objects.bulk_update(entered, ["way", "fault"])
    return entered
