"""Signals and decisions as people give them: which gate is meant, whether it is open, and the form to fill in."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.utils.translation import gettext_lazy as _

from saga_app import messages
from saga_app.admin.forms import VerbForm
from saga_app.answering import asked
from saga_app.core import addressing, registry
from saga_app.core.approvals import Approval
from saga_app.core.errors import InputError
from saga_app.core.inputs import WHOLE
from saga_app.core.sealing import Input
from saga_app.core.status import TERMINAL, StepStatus
from saga_app.core.verbs import Refused
from saga_app.models import Execution

GATE_VERBS = ("approve", "reject", "signal")
VALUE = "value_"  # before the name of a field of the approval's input


class GateForm(VerbForm):
    """What somebody says at one gate."""

    gate = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, verb: str, execution: Execution, gate: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(verb, execution, *args, **kwargs)
        self.initial["gate"] = gate

    def arguments(self) -> dict[str, Any]:
        """With the gate."""
        return {**super().arguments(), "gate": self.cleaned_data["gate"]}


class SignalForm(GateForm):
    """What a signal brings."""

    payload = forms.CharField(
        label=_("What it brings"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "class": "saga-code", "spellcheck": "false"}),
        help_text=_("As JSON. Empty: nothing."),
    )
    key = forms.CharField(
        label=_("Key"),
        required=False,
        max_length=255,
        help_text=_("Names it among the signals of that name: sent again, it is stored once."),
    )
    field_order = ("payload", "key", "reason")

    def clean_payload(self) -> Any:
        """The payload as a value; nothing is None."""
        text = self.cleaned_data["payload"].strip()
        try:
            return json.loads(text) if text else None
        except (ValueError, RecursionError) as error:
            raise forms.ValidationError(_('This is not JSON. A text needs quotation marks: "like this".')) from error

    def arguments(self) -> dict[str, Any]:
        """The name of the signal is that of its gate, or the gate's path."""
        arguments = super().arguments()
        extra = {"payload": self.cleaned_data["payload"], "key": self.cleaned_data["key"] or None}
        return {"name": arguments.pop("gate"), **arguments, **extra}


class DecisionForm(GateForm):
    """Yes or no, and what the approval asks for."""

    def __init__(self, verb: str, execution: Execution, gate: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(verb, execution, gate, *args, **kwargs)
        self.wanted = _wanted(execution, gate) if verb == "approve" else None
        names = self.wanted.names if self.wanted else {}
        for name, required in names.items():
            self.fields[VALUE + name] = _field(self.wanted, name, required=required)
        self.order_fields([*(VALUE + name for name in names), "reason"])

    def clean(self) -> None:
        """Convert what was filled in as the approval's own input does it."""
        filled = {name: self.cleaned_data.get(VALUE + name) for name in (self.wanted.names if self.wanted else {})}
        if self.wanted is None or self.errors:
            return
        try:
            converted = self.wanted.convert({name: text for name, text in filled.items() if text not in (None, "")})
        except InputError as error:
            for name, problem in error.errors.items():
                self.add_error(None if name == WHOLE else VALUE + name, problem)
        else:
            self.cleaned_data["values"] = converted

    def arguments(self) -> dict[str, Any]:
        """With what was filled in."""
        return {
            **super().arguments(),
            "values": self.cleaned_data.get("values"),
            "version": self.cleaned_data["version"],
        }


def make_form(request: HttpRequest, verb: str, execution: Execution) -> GateForm:
    """The form for a verb at the gate that the address names, filled in where something was sent.

    Raises:
        Http404: the address names no gate that this verb is for.
        PermissionDenied: the user may not decide there, or send signals.
    """
    gate = request.POST.get("gate") or request.GET.get("gate") or ""
    if verb == "signal":
        if not request.user.has_perm("saga_app.signal_execution"):
            raise PermissionDenied
        return SignalForm(verb, execution, gate, data=request.POST or None)
    node = _approval(execution, gate)
    if node is None:
        raise Http404
    if node.permission and not request.user.has_perm(node.permission):
        raise PermissionDenied
    return DecisionForm(verb, execution, gate, data=request.POST or None)


def why_not(execution: Execution, verb: str, gate: str) -> str:
    """Why nothing can be said at that gate now; empty where it can."""
    if execution.status in TERMINAL:
        return messages.sentence("terminal")
    is_open = execution.steps.filter(path=gate, status=StepStatus.WAITING).exists()
    return "" if is_open or verb == "signal" else messages.sentence("not_open", {"gate": gate})


def _approval(execution: Execution, gate: str) -> Approval | None:
    saga = registry.get(execution.saga, execution.revision)
    found = addressing.approval_at(saga, gate) if saga else None
    return None if found is None or isinstance(found, Refused) else found


def _wanted(execution: Execution, gate: str) -> Input | None:
    saga, node = registry.get(execution.saga, execution.revision), _approval(execution, gate)
    return asked(saga, node) if saga and node else None


def _field(wanted: Input | None, name: str, *, required: bool) -> forms.Field:
    """A field for one value: yes or no where the input says that it is a bool, else text."""
    if getattr(wanted, "hints", {}).get(name) == (bool,):
        choices = [("true", _("yes")), ("false", _("no"))]
        return forms.ChoiceField(label=name, choices=choices if required else [("", "–"), *choices], required=required)
    return forms.CharField(label=name, required=required)
