"""What an operator fills in on a confirm page, and the arguments that makes for the verb."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from saga_app import clock
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
    output = forms.CharField(
        label=_("Output"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "class": "saga-code", "spellcheck": "false"}),
        help_text=_("As JSON: what the step would have returned, if it happened and later steps need it."),
    )
    field_order = ("happened", "output", "reason")

    def clean_output(self) -> Any:
        """The output as a value; nothing is None."""
        text = self.cleaned_data["output"].strip()
        try:
            return json.loads(text) if text else None
        except (ValueError, RecursionError) as error:
            raise forms.ValidationError(_('This is not JSON. A text needs quotation marks: "like this".')) from error

    def arguments(self) -> dict[str, Any]:
        """With what happened."""
        happened = self.cleaned_data["happened"] == "yes"
        return {
            **super().arguments(),
            "happened": happened,
            "output": self.cleaned_data["output"] if happened else None,
        }


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
