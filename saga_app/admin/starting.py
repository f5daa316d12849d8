"""The form that starts a saga: its input, a key that makes a second click harmless, and from when on."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from saga_app import clock, engine
from saga_app.admin.fields import field_for_moment
from saga_app.admin.inputs import CORRECT, file_errors, input_form, values_of
from saga_app.core.errors import InputError, KeyConflict, SagaError
from saga_app.core.inputs import Converted
from saga_app.core.saga import Saga
from saga_app.models import Execution


class SagaForm(forms.Form):
    """A form with the input of a saga beside its own fields.

    Attributes:
        asked: the form of the input.
    """

    def __init__(self, saga: Saga[Any], **options: Any) -> None:
        super().__init__(**options)
        self.saga = saga
        self.asked = input_form(saga.accepts, self.data if self.is_bound else None)

    def clean(self) -> None:
        """Convert the input, too."""
        values = values_of(self.asked, self.saga.accepts)
        if values is None:
            raise forms.ValidationError(CORRECT)
        self.cleaned_data["values"] = values

    @property
    def values(self) -> Converted:
        """The input that was filled in."""
        return self.cleaned_data["values"]  # type: ignore[no-any-return]

    def refuse(self, error: SagaError) -> None:
        """Say what the saga said, at its field where it has one."""
        if isinstance(error, InputError):
            file_errors(self.asked, error.errors)
            self.add_error(None, CORRECT)
        else:
            self.add_error("key" if isinstance(error, KeyConflict) and "key" in self.fields else None, str(error))


class StartForm(SagaForm):
    """What an execution begins with."""

    key = forms.CharField(
        label=_("Key"),
        required=False,
        max_length=255,
        help_text=_("Names the execution. The one proposed makes sure that a second click starts nothing."),
    )
    due = field_for_moment(label=_("Not before"), help_text=_("Empty: at once."))

    def __init__(self, saga: Saga[Any], **options: Any) -> None:
        super().__init__(saga, **options)
        self.initial["key"] = f"by-hand-{clock.token()}"

    def start(self, request: HttpRequest) -> Execution | None:
        """Start it; None where the saga refuses, the form saying why."""
        options = {"key": self.cleaned_data["key"] or None, "due": self.cleaned_data["due"]}
        try:
            return engine.start(self.saga, self.values, actor=request.user, **options)
        except SagaError as error:
            self.refuse(error)
            return None
