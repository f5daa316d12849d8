"""Why an execution is where it is, in one line, and what an operator does about it."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.html import format_html
from django.utils.translation import gettext as _

from saga_app import clock, messages
from saga_app.admin.values import Failure, failure
from saga_app.core.failures import readable
from saga_app.core.status import TERMINAL, CompensationStatus, Status, StepStatus, UnwindCause
from saga_app.models import Execution, StepRecord

CALLED = ("step", "compute")  # what is called has attempts; gates and children are waited for
OVERDUE = 60.0  # seconds past its due time after which somebody should ask whether a worker runs at all


@dataclass(frozen=True, slots=True)
class Cause:
    """The head of a run page.

    Attributes:
        line: what it is doing, and why.
        record: the step that this is about, if it is about one.
        attempts: attempts of that step in the direction it was called.
        failure: what that step raised last.
        cure: what an operator does about it.
        first: why it went back in the first place, where that is another fact.
        first_failure: the failure that began it.
        overdue: how long nobody has taken it up, where that is too long.
    """

    line: str
    record: StepRecord | None = None
    attempts: str = ""
    failure: Failure | None = None
    cure: str = ""
    first: str = ""
    first_failure: Failure | None = None
    overdue: str = ""


def cause_of(execution: Execution) -> Cause:
    """The head of its run page."""
    record = _record(execution)
    over = execution.status in TERMINAL  # then what it failed at is told, and not how that was undone
    going_back = execution.unwinding_at is not None and not over
    backwards = record is not None and going_back and bool(record.compensation_status)
    shown = _failure(execution, record, backwards=backwards)
    began = failure(execution.error_text) if backwards or record is None else None
    return Cause(
        line=_line(execution),
        record=record,
        attempts=_attempts(record, backwards=backwards) if record and record.kind in CALLED else "",
        failure=shown,
        cure=_cure(execution),
        first=_first(execution),
        first_failure=began if began != shown else None,
        overdue=_overdue(execution),
    )


def _record(execution: Execution) -> StepRecord | None:
    """The step that stopped it; while it moves, the one it is at."""
    records = execution.steps.light()
    if execution.failing_path and execution.status != Status.COMPENSATING:
        return records.filter(path=execution.failing_path).first()
    if execution.status in (Status.COMPLETED, Status.FAILED, Status.CANCELLED):
        return None
    if execution.unwinding_at is not None:
        going_back = [CompensationStatus.RUNNING, CompensationStatus.WAITING]
        return records.filter(compensation_status__in=going_back).order_by("-seq").first()
    return records.filter(status__in=[StepStatus.RUNNING, StepStatus.WAITING]).order_by("-seq").first()


def _failure(execution: Execution, record: StepRecord | None, *, backwards: bool) -> Failure | None:
    if record is None:
        return None
    return failure(record.compensation_error_text if backwards else record.error_text or execution.error_text)


def _attempts(record: StepRecord, *, backwards: bool) -> str:
    attempt = record.compensation_attempt if backwards else record.attempt
    limit = record.compensation_limit if backwards else record.attempt_limit
    text = _("compensation, attempt %(attempt)d of %(limit)d") if backwards else _("attempt %(attempt)d of %(limit)d")
    return text % {"attempt": attempt, "limit": limit}


def _line(execution: Execution) -> str:
    """What it is doing, and why."""
    match execution.status:
        case Status.STUCK:
            return _("Stuck: %(reason)s.") % {"reason": messages.reason_word(execution.stuck_reason)}
        case Status.SUSPENDED:
            return _with_reason(_("Suspended by an operator."), execution.suspend_reason)
        case Status.FAILED | Status.CANCELLED:
            ended = {"status": messages.status_word(execution.status).capitalize()}
            rollback = messages.rollback_word(execution.rollback_status)
            return _("%(status)s, %(rollback)s.") % {**ended, "rollback": rollback}
        case _ if _unknown(execution):
            return _("Waiting for a worker that knows saga “%(saga)s”, revision %(revision)d.") % {
                "saga": readable(execution.saga),
                "revision": execution.revision,
            }
    return _("%(status)s.") % {"status": messages.status_word(execution.status).capitalize()}


def _unknown(execution: Execution) -> bool:
    """It is due, and the workers that came by did not know its saga."""
    return execution.due_at is not None and execution.definition_missing_since is not None


def _first(execution: Execution) -> str:
    """Why it turned back, which a failed rollback does not overwrite."""
    if execution.unwind_cause == UnwindCause.CANCEL:
        return _with_reason(_("It went back because it was cancelled."), execution.cancel_reason)
    if execution.unwind_cause == UnwindCause.FAILURE:
        return _("It went back because a step failed.")
    if execution.cancel_requested_at and execution.finished_at is None:
        return _with_reason(_("A cancel was accepted and is honoured at the next boundary."), execution.cancel_reason)
    return ""


def _with_reason(text: str, reason: str) -> str:
    if not reason:
        return text
    return format_html(_("{text} “{reason}”"), text=text, reason=format_html("<bdi>{}</bdi>", readable(reason)))


def _cure(execution: Execution) -> str:
    if execution.status == Status.SUSPENDED:
        return _("Resume lets it go on where it paused.")
    if _unknown(execution):
        return messages.cure("definition_missing")
    return messages.cure(execution.stuck_reason)


def _overdue(execution: Execution) -> str:
    if execution.due_at is None:
        return ""
    late = (clock.now() - execution.due_at).total_seconds()
    return messages.span(late) if late > OVERDUE else ""
