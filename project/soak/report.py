"""The table at the end of a soak: what happened, in numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from django.conf import settings
from django.db.models import F, Sum

from project.shop import outside
from project.soak.books import Books
from project.soak.line import Line
from saga_app.models import Execution, Signal, StepRecord


def rows(line: Line, books: Books, seconds: float) -> Iterator[tuple[str, object]]:
    """Every line of the table."""
    yield "seconds", f"{seconds:.0f}"
    yield "executions", len(books.runs)
    yield from _tally(run.status for run in books.runs)
    yield "of which", ""
    yield from _tally(Execution.objects.values_list("saga", flat=True))
    yield "rested at a milestone", sum(run.rollback == "rested" for run in books.runs)
    yield "kills", line.reaper.kills.total()
    yield from _indented(line.reaper.kills)
    yield "what an operator or a customer did", ""
    yield from _indented(line.happened)
    yield "compensations", sum(bool(step.compensation) for run in books.runs for step in run.steps)
    yield from _tally(step.compensation for run in books.runs for step in run.steps if step.compensation)
    records = StepRecord.objects
    yield "steps in queues", records.filter(row_epoch__gt=0).count()
    yield "signals", Signal.objects.count()
    yield "  which nothing asked for", sum(run.unread for run in books.runs)
    yield "steps tried more than once", records.filter(attempt__gt=1).count()
    yield "steps whose outcome was asked for", records.filter(attempts_text__contains='"reconcile"').count()
    yield "writes of executions", Execution.objects.aggregate(sum=Sum(F("writes")))["sum"]
    yield from _outside(books)


def _outside(books: Books) -> Iterator[tuple[str, object]]:
    with outside.ledger() as ledger:
        for book in ("charges", "refunds", "parcels", "entries"):
            entries, asked = ledger.execute(f"SELECT COUNT(*), COALESCE(SUM(asked), 0) FROM {book}").fetchone()  # noqa: S608
            yield book, entries
            yield "  asked again under the same key", asked - entries
    yield "invoices", sum(bill.total >= 0 for bill in books.bills)
    yield "  answered by a credit note", sum(bill.total < 0 for bill in books.bills)
    mails = _mails()
    yield "mails", len(set(mails))
    yield "  copies, which a mailbox drops", len(mails) - len(set(mails))
    yield "kept by the bank", sum(charge.amount - charge.refunded for charge in books.charges)


def _mails() -> list[str]:
    """The ids of all mails sent. Workers may have written into one file: it is named after a second and an address."""
    texts = (file.read_text() for file in settings.MAIL_DIR.glob("*"))
    return [found for text in texts for found in re.findall(r"^Message-ID:\s+(\S+)", text, re.MULTILINE)]


def _tally(words: Iterable[str]) -> Iterator[tuple[str, object]]:
    return _indented(Counter(words))


def _indented(counts: Counter[str]) -> Iterator[tuple[str, object]]:
    return ((f"  {what}", count) for what, count in sorted(counts.items()))
