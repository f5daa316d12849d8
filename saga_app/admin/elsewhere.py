"""fork and move: an execution that goes on as another one, or in another revision; what is chosen for it and shown."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from saga_app import forking, messages
from saga_app.admin.forms import RerunForm, VerbForm
from saga_app.core.status import StepStatus
from saga_app.core.verbs import MISFITS, Allowed, Eligibility, Refused
from saga_app.models import Execution

VERBS_ELSEWHERE = ("fork", "move")
MOST = 500  # step records to choose from; of more, one writes the path
SHOWN = 20  # of what is taken over


class ForkForm(RerunForm):
    """From which step on, and the key of the new execution."""

    path = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, verb: str, execution: Execution, path: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(verb, execution, *args, **kwargs)
        self.initial["path"] = path

    def arguments(self) -> dict[str, Any]:
        """With the step."""
        return {**super().arguments(), "path": self.cleaned_data["path"]}


class MoveForm(VerbForm):
    """In which revision it goes on."""

    revision = forms.TypedChoiceField(label=_("Revision"), coerce=int, widget=forms.RadioSelect)
    field_order = ("revision", "reason")

    def __init__(self, verb: str, execution: Execution, *args: Any, **kwargs: Any) -> None:
        super().__init__(verb, execution, *args, **kwargs)
        self.known = forking.revisions(execution)
        fitting = [number for number, refused in self.known.items() if refused is None]
        self.fields["revision"].choices = [(number, _choice(execution, number)) for number in fitting]  # type: ignore[attr-defined]
        if len(fitting) == 1:
            self.initial["revision"] = fitting[0]

    def arguments(self) -> dict[str, Any]:
        """With the revision."""
        return {**super().arguments(), "revision": self.cleaned_data["revision"]}


def _choice(execution: Execution, number: int) -> Any:
    """A revision; its own means the code as it is now."""
    if number == execution.revision:
        return _("Revision %(number)d, as it is defined now") % {"number": number}
    return _("Revision %(number)d") % {"number": number}


def make_form(request: HttpRequest, verb: str, execution: Execution) -> VerbForm:
    """The form of a fork or a move, filled in where something was sent."""
    data = request.POST if request.method == "POST" else None
    if verb == "move":
        return MoveForm(verb, execution, data=data)
    return ForkForm(verb, execution, request.POST.get("path") or request.GET.get("path") or "", data=data)


def movable(execution: Execution, stuck: Eligibility) -> Eligibility:
    """Whether it may be moved, where `stuck` says whether it is stuck at all."""
    if isinstance(stuck, Refused):
        return stuck
    return Allowed() if execution.stuck_reason in MISFITS else Refused("definition_not_at_fault")


def facts(execution: Execution, form: VerbForm) -> dict[str, Any]:
    """What the page shows before it is done: the steps to choose from and what is taken over; what does not fit."""
    if isinstance(form, MoveForm):
        unfit = [(number, _why(refused)) for number, refused in form.known.items() if refused is not None]
        return {"unfit": unfit, "impossible": not form.fields["revision"].choices}  # type: ignore[attr-defined]
    path = str(form["path"].value() or "")
    return {**_steps(execution, path), **(_taken(execution, path) if path else {"impossible": True})}


def _steps(execution: Execution, path: str) -> dict[str, Any]:
    records = list(execution.steps.order_by("seq").values_list("path", "status")[: MOST + 1])
    choices = [(one, messages.step_word(status)) for one, status in records]
    failed = [one for one, status in records if status == StepStatus.FAILED]
    at = path or execution.failing_path or next(iter(failed), "")
    return {"choosing": True, "step_path": path, "steps": choices if len(choices) <= MOST else [], "at": at}


def _taken(execution: Execution, path: str) -> dict[str, Any]:
    planned = forking.preview(execution, path)
    if isinstance(planned, Refused):
        return {"impossible": True, "why_not": _why(planned)}
    taken = [(one.path, messages.step_word(one.status)) for one in planned.taken]
    return {"taken": taken[-SHOWN:], "taken_before": max(len(taken) - SHOWN, 0)}


def _why(refused: Refused) -> str:
    return messages.sentence(refused.code, refused.params)
