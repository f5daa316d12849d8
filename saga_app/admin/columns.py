"""The columns of the lists of executions."""

from __future__ import annotations

from datetime import datetime

from django.contrib.admin import display
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from saga_app import clock, messages
from saga_app.admin.facts import Facts
from saga_app.core.status import RollbackStatus
from saga_app.models import Execution


class Columns:
    """What a list shows of an execution; the change list has put its facts on it."""

    @display(description=gettext_lazy("status"))
    def state(self, execution: Execution) -> SafeString:
        """Icon and word, and what else is to be known at a glance."""
        return format_html(
            '<span class="saga-status saga-status-{}">{}</span> <span class="saga-note">{}</span>',
            execution.status,
            messages.status_word(execution.status),
            note(execution, facts(execution)),
        )

    @display(description=gettext_lazy("key"))
    def name(self, execution: Execution) -> SafeString:
        """Its key; its id where it has none."""
        if execution.key:
            return format_html('<bdi class="saga-key">{}</bdi>', execution.key)
        return format_html('<bdi class="saga-key" title="{0}">…{1}</bdi>', execution.pk, str(execution.pk)[-12:])

    @display(description=gettext_lazy("step"))
    def step(self, execution: Execution) -> SafeString:
        """The step it failed at, or is at; and the direction, where that is back."""
        return format_html(
            '<bdi>{}</bdi> <span class="saga-note">{}</span>',
            facts(execution).path or "–",
            direction(execution),
        )

    @display(description=gettext_lazy("attempts"))
    def attempts(self, execution: Execution) -> str:
        """Attempts of that step, and how often an operator resumed the execution."""
        known = facts(execution)
        shown = f"{known.attempt}/{known.limit}" if known.limit else "–"
        return shown + (_(", resumed ×%d") % execution.resume_count if execution.resume_count else "")

    @display(description=gettext_lazy("age"), ordering="created_at")
    def age(self, execution: Execution) -> SafeString:
        """How long ago it was started."""
        return moment(execution.created_at, messages.span((clock.now() - execution.created_at).total_seconds()))

    @display(description=gettext_lazy("stuck for"))
    def stuck_for(self, execution: Execution) -> SafeString:
        """How long it has not moved."""
        return moment(execution.updated_at, messages.span((clock.now() - execution.updated_at).total_seconds()))

    @display(description=gettext_lazy("due"))
    def due(self, execution: Execution) -> SafeString | str:
        """When a worker will take it up, or how late that is; a dash where only an operator can move it."""
        if execution.due_at is None:
            return "–"
        if execution.lease_holder and execution.due_at > clock.now():
            return _("with a worker")
        wait = (execution.due_at - clock.now()).total_seconds()
        text = _("in %s") % messages.span(wait) if wait >= 0 else _("%s late") % messages.span(-wait)
        return moment(execution.due_at, text)


def facts(execution: Execution) -> Facts:
    """What the change list found out."""
    return execution.facts  # type: ignore[attr-defined, no-any-return]


def moment(at: datetime, text: str) -> SafeString:
    """A length of time, with the moment itself for whoever points at it."""
    return format_html('<time datetime="{0}" title="{0}">{1}</time>', f"{at:%Y-%m-%dT%H:%M:%SZ}", text)


def direction(execution: Execution) -> str:
    """Which way it goes or went, where that is back: with nothing to undo it only turned round."""
    if execution.unwinding_at is None or execution.rollback_status == RollbackStatus.NOT_APPLICABLE:
        return ""
    return _("went back") if execution.finished_at else _("going back")


def note(execution: Execution, known: Facts) -> str:
    """Why it is stuck, what became of the rollback, what was done by hand, what failed and was allowed to."""
    parts = [
        messages.reason_word(execution.stuck_reason),
        messages.rollback_word(execution.rollback_status) if execution.rollback_status != "stuck" else "",
        messages.by_hand(known.by_hand) if known.by_hand else "",
        messages.optional_failed(known.optional_failed) if known.optional_failed else "",
        _("cancel requested") if execution.cancel_requested_at and execution.finished_at is None else "",
        _("suspend requested") if execution.suspend_requested_at else "",
    ]
    return ", ".join(part for part in parts if part)
