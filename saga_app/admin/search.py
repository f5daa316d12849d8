"""What the search box of the lists finds, each by an index: an id, a key, a signal's key, the beginning of keys."""

from __future__ import annotations

from contextlib import suppress
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy

from saga_app.models import Execution, Signal
from saga_app.querysets import ExecutionQuerySet

MOST = 1000  # executions that one key means
LONGEST = 255  # of a key

HELP = gettext_lazy("A whole id, key or key of a signal. If nothing is called exactly that: what keys begin with.")


def search(executions: ExecutionQuerySet, term: str) -> QuerySet[Execution]:
    """The executions of exactly that id, key or signal's key; if there are none, those whose keys begin with it.

    Exact before beginning, so that "order-1" is not lost among ten thousand others. What is exact is looked for first
    and by itself: one condition with all of it would be answered by reading the whole table.
    """
    if len(term) > LONGEST:
        return executions.none()
    terms = {term, term.strip()}  # somebody copied it with a blank too many, or it has one
    named = executions.filter(_named(terms)).order_by().values_list("pk", flat=True)
    signalled = Signal.objects.filter(key__in=terms).order_by().values("execution_id")
    by_signal = executions.filter(pk__in=signalled).order_by().values_list("pk", flat=True)
    exactly = list(named.union(by_signal)[:MOST])
    return executions.filter(pk__in=exactly) if exactly else executions.key_begins(term.strip())


def _named(terms: set[str]) -> Q:
    named = Q(key__in=terms)
    for term in terms:
        with suppress(ValueError):  # then it is no id
            named |= Q(pk=UUID(term))
    return named
