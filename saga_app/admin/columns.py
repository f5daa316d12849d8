"""The columns of the lists of executions.

What moves is marked for the live refresh cell by cell. The rows stay where they are: nobody shall tick one that has
just come under the pointer, and Django's own script counts the boxes there were when the page was loaded.
"""

from __future__ import annotations

from datetime import datetime

from django.contrib.admin import display
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from saga_app import clock, messages
from saga_app.admin.cause import OVERDUE
from saga_app.admin.facts import Facts
from saga_app.core.failures import readable
from saga_app.core.status import RollbackStatus, Status
from saga_app.models import Execution

WAITS = {
    "wait": gettext_lazy("waits for a signal"),
    "approval": gettext_lazy("waits for an approval"),
    "sleep": gettext_lazy("sleeps"),
    "child": gettext_lazy("waits for its child"),
}


class Columns:
    """What a list shows of an execution; the change list has put its facts on it."""

    @display(description=gettext_lazy("status"))
    def state(self, execution: Execution) -> SafeString:
        """Icon and word, and what else is to be known at a glance."""
        shown = format_html(
            '<span class="saga-status saga-status-{}">{}</span> <span class="saga-note">{}</span>',
            execution.status,
            messages.status_word(execution.status),
            self.noted(execution, note(execution, facts(execution))),
        )
        return live(execution, "status", shown)

    def noted(self, execution: Execution, text: str) -> SafeString | str:
        """What is said beside the status; a list may lead on from there."""
        return text

    @display(description=gettext_lazy("saga"))
    def of_saga(self, execution: Execution) -> SafeString:
        """The saga's name."""
        return format_html("<bdi>{}</bdi>", readable(execution.saga))

    @display(description=gettext_lazy("key"))
    def name(self, execution: Execution) -> SafeString:
        """Its key; its id where it has none."""
        if execution.key:
            return format_html('<bdi class="saga-key">{}</bdi>', execution.key)
        return format_html('<bdi class="saga-key" title="{0}">…{1}</bdi>', execution.pk, str(execution.pk)[-12:])

    @display(description=gettext_lazy("step"))
    def step(self, execution: Execution) -> SafeString:
        """The step it failed at, or is at; and which way it goes."""
        where = readable(facts(execution).path) or "–"
        shown = format_html('<bdi class="saga-where">{}</bdi> <span class="saga-note">{}</span>', where, way(execution))
        return live(execution, "step", shown)

    @display(description=gettext_lazy("attempts"))
    def attempts(self, execution: Execution) -> SafeString:
        """Attempts of that step, or what it waits for; and how often an operator resumed the execution."""
        known = attempted(execution, facts(execution))
        resumed = _("resumed ×%d") % execution.resume_count if execution.resume_count else ""
        return live(execution, "attempts", format_html("{}", ", ".join(part for part in (known, resumed) if part)))

    @display(description=gettext_lazy("in status"), ordering="status_at")
    def since(self, execution: Execution) -> SafeString:
        """How long it has had its status."""
        age = messages.span((clock.now() - execution.status_at).total_seconds())
        return live(execution, "since", moment(execution.status_at, age))

    @display(description=gettext_lazy("created"), ordering="created_at")
    def created(self, execution: Execution) -> SafeString:
        """How long ago it was started."""
        age = messages.span((clock.now() - execution.created_at).total_seconds())
        return live(execution, "created", moment(execution.created_at, age))

    @display(description=gettext_lazy("due"))
    def due(self, execution: Execution) -> SafeString:
        """When a worker will take it up, or how late that is; a dash where nothing makes it due."""
        return live(execution, "due", format_html("{}", lateness(execution)))


def facts(execution: Execution) -> Facts:
    """What the change list found out."""
    return execution.facts  # type: ignore[attr-defined, no-any-return]


def live(execution: Execution, part: str, shown: SafeString) -> SafeString:
    """A cell whose content is brought up to date."""
    return format_html('<span id="saga-{}-{}" data-saga-live>{}</span>', part, execution.pk, shown)


def moment(at: datetime, text: str) -> SafeString:
    """A length of time, with the moment itself for whoever points at it."""
    return format_html('<time datetime="{0}" title="{0}">{1}</time>', f"{at:%Y-%m-%dT%H:%M:%SZ}", text)


def lateness(execution: Execution) -> SafeString | str:
    """When it is due, as the column says it. Late is what nobody took up in time."""
    if execution.due_at is None:
        return "–"
    wait = (execution.due_at - clock.now()).total_seconds()
    if execution.lease_holder and wait > 0:
        return _("with a worker")
    text = moment(
        execution.due_at, _("in %s") % messages.span(wait) if wait >= 0 else _("%s late") % messages.span(-wait)
    )
    return format_html('<span class="saga-error">{}</span>', text) if wait < -OVERDUE else text


def way(execution: Execution) -> str:
    """Forward or back; what has ended may have gone back. With nothing to undo it only turned round."""
    if execution.unwinding_at is None or execution.rollback_status == RollbackStatus.NOT_APPLICABLE:
        return "" if execution.finished_at else _("forward")
    return _("went back") if execution.finished_at else _("back")


def attempted(execution: Execution, known: Facts) -> str:
    """How often the step was tried, of how often it may be; of what is not called, what is waited for."""
    if known.limit:
        return f"{known.attempt}/{known.limit}"
    if execution.status == Status.PENDING:
        return _("not begun")
    if known.is_open and known.kind in WAITS:
        return _("its child goes back") if known.goes_back else str(WAITS[known.kind])
    return messages.word(messages.KIND, known.kind) if known.kind in WAITS else "–"


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
