"""The words of batches, by the code they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

    Words = Mapping[str, StrPromise]

BATCH: Words = {
    "draft": pgettext_lazy("a batch", "not begun"),
    "running": pgettext_lazy("a batch", "running"),
    "holding": pgettext_lazy("a batch", "waits for your word on the rest"),
    "paused": pgettext_lazy("a batch", "paused"),
    "cancelled": pgettext_lazy("a batch", "cancelled"),
    "completed": pgettext_lazy("a batch", "completed"),
}

ITEM: Words = {
    "pending": _("not yet"),
    "accepted": _("accepted"),
    "refused": _("refused"),
    "failed": _("failed"),
}

HALTED: Words = {
    "actor_gone": _("Whoever let it run is no user any more. Somebody who may has to let it go on."),
    "not_permitted": _("Whoever let it run may not do this any more. Somebody who may has to let it go on."),
    "worker_lost": _(
        "Its workers died, or lost the database, several times in a row at the next execution. Look in their logs for "
        "the cause, mend it, then let it go on."
    ),
}

BATCH_ACT: Words = {
    "begin": pgettext_lazy("a batch", "begun"),
    "pause": pgettext_lazy("a batch", "paused"),
    "go_on": pgettext_lazy("a batch", "let go on"),
    "cancel": pgettext_lazy("a batch", "cancelled"),
    "halt": pgettext_lazy("a batch", "paused by itself"),
    "hold": pgettext_lazy("a batch", "the first few are through"),
    "complete": pgettext_lazy("a batch", "completed"),
}

BATCH_REFUSAL: Words = {
    "nothing_selected": _("Nothing was selected, so there is nothing to do."),
    "too_many_selected": _("More than %(most)s executions were selected. Narrow the list with its filters first."),
    "changed_since": _("It has changed since it was selected. Select it again to have it included."),
    "batch_changed": _("This batch is not as you saw it any more, so nothing was done. Look at it as it is now."),
    "batch_gone": _("There is no such batch any more: what nobody began was thrown away."),
}

BATCH_FIRST = _(
    "%(by)s was first: %(what)s. Nothing was done for you. Look at the batch as it is now, and decide again."
)
