"""What an operator fills in on a confirm page, and the arguments that makes for the verb."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from saga_app import clock
from saga_app.admin.fields import field_for
from saga_app.core import registry
from saga_app.core.converting import converted
from saga_app.core.signatures import returned_by
from saga_app.core.verbs import GUARDED, REASON_REQUIRED
from saga_app.models import Execution


class VerbForm(forms.Form):
    """Who looked at which version, and why the verb is used."""

    version = forms.IntegerField(widget=forms.HiddenInput)
    reason = forms.CharField(
        label=_("Reason"),
        widget=forms.Textarea(attrs={"rows": 3, "class": "saga-reason"}),
        help_text=_("Kept in the history, with your name."),
        max_length=2_000,
    )

    def __init__(self, verb: str, execution: Execution, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["version"] = execution.version
        self.verb = verb
        self.execution = execution
        self.fields["reason"].required = verb in REASON_REQUIRED

    def arguments(self) -> dict[str, Any]:
        """What the verb is called with."""
        arguments = {"reason": self.cleaned_data["reason"]}
        if self.verb in GUARDED:
            arguments["version"] = self.cleaned_data["version"]
        return arguments


class StepForm(VerbForm):
    """A verb that speaks of the step at which the execution stopped."""

    path = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, verb: str, execution: Execution, *args: Any, **kwargs: Any) -> None:
        super().__init__(verb, execution, *args, **kwargs)
        self.initial["path"] = execution.failing_path

    def arguments(self) -> dict[str, Any]:
        """With the step."""
        return {**super().arguments(), "path": self.cleaned_data["path"]}


class SkipForm(StepForm):
    """What the operator found out about a step that is stuck."""

    happened = forms.ChoiceField(
        label=_("What happened?"),
        widget=forms.RadioSelect,
        choices=[
            ("yes", _("It had its effect, or I did it by hand: the step counts as completed and would be undone.")),
            ("no", _("It had no effect and is not needed: nothing is undone for it.")),
        ],
    )
    field_order = ("happened", "output", "reason")

    def __init__(self, verb: str, execution: Execution, *args: Any, **kwargs: Any) -> None:
        super().__init__(verb, execution, *args, **kwargs)
        self.declared = _returned(execution)
        asked = field_for(self.declared)
        asked.required, asked.label = False, _("Output")
        what = _("What the step would have returned, if it happened and later steps need it.")
        asked.help_text = format_lazy("{} {}", what, asked.help_text)
        self.fields["output"] = asked
        self.order_fields(self.field_order)

    def clean_output(self) -> Any:
        """The output as the step declares it; nothing is None."""
        if self["output"].data in (None, ""):
            return None
        try:
            return converted(self.declared, self.cleaned_data["output"])
        except ValueError as problem:
            raise forms.ValidationError(str(problem)) from problem

    def arguments(self) -> dict[str, Any]:
        """With what happened."""
        happened = self.cleaned_data["happened"] == "yes"
        return {
            **super().arguments(),
            "happened": happened,
            "output": self.cleaned_data["output"] if happened else None,
        }


def _returned(execution: Execution) -> Any:
    """The type that the step it is stuck on declares to return, as far as that is known here."""
    saga = registry.get(execution.saga, execution.revision)
    step = saga.step(execution.failing_path) if saga else None
    return returned_by(step.function) if step else Any


class RerunForm(VerbForm):
    """A new execution with the same input."""

    key = forms.CharField(
        label=_("Key"),
        required=False,
        max_length=255,
        help_text=_("Of the new execution. The one proposed makes sure that a second click starts nothing."),
    )
    field_order = ("key", "reason")

    def __init__(self, verb: str, execution: Execution, *args: Any, **kwargs: Any) -> None:
        super().__init__(verb, execution, *args, **kwargs)
        self.initial["key"] = f"{(execution.key or str(execution.pk))[:240]}-{clock.token()}"

    def arguments(self) -> dict[str, Any]:
        """With the key."""
        return {**super().arguments(), "key": self.cleaned_data["key"] or None}


FORMS: dict[str, type[VerbForm]] = {"skip": SkipForm, "resolve": StepForm, "rerun": RerunForm}


def form_class(verb: str) -> type[VerbForm]:
    """The form of a verb."""
    return FORMS.get(verb, VerbForm)
