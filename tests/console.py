"""The addresses of the console that have to stay quick, whatever is in the tables: lists, filters, searches, pages.

What can be chosen beside a list is read from the list itself, so that a new filter is looked at without being told.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from django.contrib.admin.views.main import ChangeList
from django.test import Client
from django.urls import NoReverseMatch, reverse

from saga_app.models import Execution, Signal

LISTS = {"executions": "saga_app_execution_changelist", "stuck": "saga_app_stuckexecution_changelist"}
OTHERS = {
    "overview": "saga_app_overview_changelist",
    "approvals": "saga_app_waitingapproval_changelist",
    "batches": "saga_app_operatorbatch_changelist",
    "workers": "saga_app_worker_changelist",
    "sagas": "saga_app_sagaversion_changelist",
}
BOTH = {  # what is asked for together
    "a saga that failed": "?saga=saga-3&status=failed",
    "a saga, not ended": "?saga=saga-3&status=open",
    "a saga, not ended, for an hour, back": "?saga=saga-3&age=3600&direction=back",
    "a saga whose code is gone, cancelled": "?saga=retired&status=cancelled",
    "the last week's that failed": "?created=604800&status=failed",
    "not ended, resumed before": "?status=open&resumed=yes",
    "oldest first": "?o={created}",
    "oldest first that failed": "?o={created}&status=failed",
    "the last page": "?p=200",
    "the last page of a saga": "?saga=saga-3&p=200",
    "the last page of those that failed": "?status=failed&p=200",
}
STUCK = {
    "longest first": "?o={since}",
    "oldest first": "?o={created}",
    "a saga by reason": "?saga=saga-3&stuck_reason=step_failed",
}


def pages(client: Client) -> Iterator[tuple[str, str]]:
    """Every such page that is there: what it is, and its address."""
    for name, view in LISTS.items():
        address = reverse(f"admin:{view}")
        yield name, address
        shown = client.get(address).context["cl"]
        columns = {column: number for number, column in enumerate(shown.list_display)}
        for title, query in filters(shown):
            yield f"{name}, {title}", f"{address}{query}"
        for title, query in (BOTH if name == "executions" else STUCK).items():
            yield f"{name}, {title}", f"{address}{query.format(**columns)}"
        for title, term in searches().items():
            yield f"{name}, search: {title}", f"{address}?q={quote(term)}"
    for name, view in OTHERS.items():
        try:
            yield name, reverse(f"admin:{view}")
        except NoReverseMatch:  # not every site shows every page
            continue


def filters(shown: ChangeList) -> Iterator[tuple[str, str]]:
    """Every choice beside a list, by itself."""
    for spec in shown.filter_specs:
        for choice in list(spec.choices(shown))[1:]:
            yield f"{spec.title}: {choice['display']}", str(choice["query_string"])


def searches() -> dict[str, str]:
    """What is searched for: of each kind one that is there, and what is not."""
    keyed = Execution.objects.filter(key__isnull=False).order_by("-created_at")[:1].get()
    key = Signal.objects.order_by("-id").values_list("key", flat=True)[:1].get()
    return {
        "an id": str(keyed.pk),
        "a key": str(keyed.key),
        "a signal's key": str(key),
        "a long beginning": str(keyed.key)[:-1],
        "a shorter one": str(keyed.key)[:8],
        "a beginning of all": str(keyed.key)[:3],
        "nothing": "nothing is called that",
    }
