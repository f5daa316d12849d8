"""What an operator fills in to let a batch run."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from saga_app.core.batching import MOST
from saga_app.core.verbs import REASON_REQUIRED
from saga_app.models import OperatorBatch

FASTEST = 1_000  # executions per second: more than any database writes
SLOWEST = 0.001


class ActForm(forms.Form):
    """Which version somebody looked at."""

    version = forms.IntegerField(widget=forms.HiddenInput)


class BeginForm(ActForm):
    """Why, how many first, and how fast."""

    reason = forms.CharField(
        label=_("Reason"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "class": "saga-reason"}),
        help_text=_("Kept in the history of each execution, with your name."),
        max_length=2_000,
    )
    canary = forms.IntegerField(
        label=_("Only so many first"),
        required=False,
        min_value=0,
        max_value=MOST,
        help_text=_(
            "Then it stops, for you to see what becomes of them, and to say whether the rest follows. Those that are "
            "refused do not count."
        ),
    )
    rate = forms.FloatField(
        label=_("Executions per second"),
        required=False,
        min_value=SLOWEST,
        max_value=FASTEST,
        help_text=_("So that what the steps call is not overrun. Empty: as fast as it can."),
    )

    def __init__(self, batch: OperatorBatch, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.batch = batch
        self.initial["version"] = batch.version
        self.fields["reason"].required = batch.verb in REASON_REQUIRED
        if batch.verb == "abandon":
            self.fields["count"] = forms.IntegerField(
                label=_("Number of executions"),
                help_text=_("Type how many executions this batch has, to be sure: it cannot be taken back."),
                widget=forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"}),
            )

    def clean_count(self) -> int:
        """Whoever types the number has read it."""
        count: int = self.cleaned_data["count"]
        if count != self.batch.size:
            raise forms.ValidationError(
                _("This batch has %(size)d executions, not %(count)d.") % {"size": self.batch.size, "count": count}
            )
        return count

    def arguments(self) -> dict[str, Any]:
        """What `batches.begin` is called with."""
        names = ("version", "reason", "rate")
        return {name: self.cleaned_data[name] for name in names} | {"canary": self.cleaned_data["canary"] or 0}
