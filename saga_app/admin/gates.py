"""Signals and decisions as people give them: which gate is meant, whether it is open, and the form to fill in."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.utils.translation import gettext_lazy as _

from saga_app import messages
from saga_app.admin.cause import CALLED
from saga_app.admin.fields import JsonField
from saga_app.admin.forms import VerbForm
from saga_app.admin.inputs import CORRECT, input_form, values_of
from saga_app.admin.steps import rows, with_values
from saga_app.admin.values import value
from saga_app.answering import asked, refusal, start_of
from saga_app.core import addressing, registry
from saga_app.core.approvals import Approval
from saga_app.core.gates import Wait
from saga_app.core.sealing import Input
from saga_app.core.status import TERMINAL, StepStatus
from saga_app.core.verbs import Refused
from saga_app.models import Execution

GATE_VERBS = ("approve", "reject", "signal")
DONE = 20  # of what was done so far, more than anybody reads before they decide


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
    """What a signal brings; and which it is, where the address does not say."""

    payload = JsonField(label=_("What it brings"), required=False, help_text=_("As JSON. Empty: nothing."))
    key = forms.CharField(
        label=_("Key"),
        required=False,
        max_length=255,
        help_text=_("Names it among the signals of that name: sent again, it is stored once."),
    )
    field_order = ("gate", "payload", "key", "reason")

    def __init__(self, verb: str, execution: Execution, gate: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(verb, execution, gate, *args, **kwargs)
        if not gate:
            names = signals_of(execution)
            self.fields["gate"] = forms.CharField(
                label=_("Signal"),
                max_length=255,
                initial=names[0] if len(names) == 1 else "",
                help_text=", ".join(names),
            )
            self.order_fields(self.field_order)

    def arguments(self) -> dict[str, Any]:
        """The name of the signal is that of its gate, or the gate's path."""
        arguments = super().arguments()
        extra = {"payload": self.cleaned_data["payload"], "key": self.cleaned_data["key"] or None}
        return {"name": arguments.pop("gate"), **arguments, **extra}


class DecisionForm(GateForm):
    """Yes or no, and what the approval asks for.

    Attributes:
        asked: the form of what it asks for; None: nothing. Who rejects need not fill in anything.
    """

    def __init__(self, verb: str, execution: Execution, gate: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(verb, execution, gate, *args, **kwargs)
        self.wanted = _wanted(execution, gate) if verb == "approve" else None
        self.asked = input_form(self.wanted, self.data if self.is_bound else None) if self.wanted else None

    def clean(self) -> None:
        """Convert what was filled in as the approval's own input does it."""
        if self.asked is not None and self.wanted is not None:
            self.cleaned_data["values"] = values = values_of(self.asked, self.wanted)
            if values is None:
                raise forms.ValidationError(CORRECT)

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
    if verb == "signal":
        if not request.user.has_perm("saga_app.signal_execution"):
            raise PermissionDenied
        return SignalForm(verb, execution, request.GET.get("gate", ""), data=request.POST or None)
    gate = request.POST.get("gate") or request.GET.get("gate") or ""
    node = _approval(execution, gate)
    if node is None:
        raise Http404
    if node.permission and not request.user.has_perm(node.permission):
        raise PermissionDenied
    return DecisionForm(verb, execution, gate, data=request.POST or None)


def why_not(request: HttpRequest, execution: Execution, verb: str, gate: str) -> str:
    """Why this user can say nothing at that gate now; empty where they can.

    An approval's `allow=` is asked when they decide and not before: it is the project's code, perhaps slow, and looking
    at a page must neither wait for it nor run it for everybody who looks.
    """
    if verb == "signal":
        return messages.sentence("terminal") if execution.status in TERMINAL else ""
    refused = refusal(execution, gate, request.user)
    return "" if refused is None else messages.sentence(refused.code, refused.params)


def facts(execution: Execution, verb: str, gate: str) -> dict[str, Any]:
    """What a decision is made from: what the execution was started with and by whom, and what was done so far."""
    if verb == "signal":
        return {}
    done = execution.steps.filter(kind__in=CALLED, status=StepStatus.COMPLETED)
    node, saga = _approval(execution, gate), registry.get(execution.saga, execution.revision)
    return {
        "gate": gate,
        "started": start_of(execution),
        "given": value(execution.input_text),
        "done": rows(with_values(done.order_by("-seq"))[:DONE], saga)[::-1],
        "done_before": max(done.count() - DONE, 0),
        "asks_itself": node is not None and node.allow is not None,
    }


def signals_of(execution: Execution) -> list[str]:
    """The signals that its saga waits for anywhere, as far as the saga is known here."""
    saga = registry.get(execution.saga, execution.revision)
    nodes = [place.node for place in saga.places.values()] if saga else []
    return sorted({node.signal for node in nodes if isinstance(node, Wait)})


def _approval(execution: Execution, gate: str) -> Approval | None:
    saga = registry.get(execution.saga, execution.revision)
    found = addressing.approval_at(saga, gate) if saga else None
    return None if found is None or isinstance(found, Refused) else found


def _wanted(execution: Execution, gate: str) -> Input | None:
    saga, node = registry.get(execution.saga, execution.revision), _approval(execution, gate)
    return asked(saga, node) if saga and node else None
