"""The verbs as an operator meets them: a button with its reason why not, a page that says what it will do, the act."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from django.contrib import messages as flash
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from saga_app import engine, messages
from saga_app.admin import elsewhere, gates
from saga_app.admin.cause import cause_of
from saga_app.admin.elsewhere import VERBS_ELSEWHERE
from saga_app.admin.forms import VerbForm, form_class
from saga_app.admin.gates import GATE_VERBS
from saga_app.admin.steps import plan_of, undone_of
from saga_app.core.errors import SagaError, VerbRefused
from saga_app.core.snapshot import Snapshot
from saga_app.core.status import TERMINAL
from saga_app.core.verbs import REASON_REQUIRED, VERBS, Allowed, Eligibility, Refused, eligibility
from saga_app.models import Execution

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

    from saga_app.admin.executions import ExecutionAdmin

EFFECT: dict[str, StrPromise] = {
    "resume": _(
        "It goes on where it stopped, in the direction it had. What failed is tried again, with as many attempts as "
        "it had at first and with the same idempotency key. No completed step runs again."
    ),
    "skip": _("The step that it is stuck on counts as you say below, and the execution goes on with the next one."),
    "resolve": _(
        "You have undone this step by hand. Its compensation is never called again, and the unwind goes on with the "
        "next one."
    ),
    "unwind": _("It gives up and compensates what was done, as the plan says."),
    "cancel": _(
        "At the next boundary between steps it turns back and compensates what was done, as the plan says. A step that "
        "runs now is finished first."
    ),
    "suspend": _("It pauses at the next boundary between steps. A step that runs now is finished first."),
    "abandon": _(
        "It ends here, for good. What is still undone stays as it is: no compensation is called any more. This cannot "
        "be taken back."
    ),
    "rerun": _("A new execution starts with the same input. All its steps run again, with new idempotency keys."),
    "fork": _(
        "A new execution goes on from the step you choose. What ran before it is taken over with its outputs and "
        "idempotency keys and does not run again; from then on the new execution answers for undoing it."
    ),
    "move": _("It goes on where it stopped, in the revision you choose. What ran has to fit it."),
    "approve": _("The approval is given, and the execution goes on. A decision is final."),
    "reject": _("The approval is refused: what the saga says about that is done. A decision is final."),
    "signal": _("The signal is kept, and opens the gate that waits for it. It is read once, first come, first read."),
}
PLAN_TITLE = _("Unwind plan")
PLAN_GIVEN_UP = _("Unwind plan, which you give up")
SHOWS_PLAN = frozenset({"resume", "resolve", "unwind", "cancel", "abandon"})
SHOWS_UNDONE = frozenset({"abandon"})
OFFERED = (*VERBS, *VERBS_ELSEWHERE)


@dataclass(frozen=True, slots=True)
class Button:
    """A verb that may be used now.

    Attributes:
        name: the verb.
        word: what an operator calls it.
        danger: it cannot be taken back.
    """

    name: str
    word: str
    danger: bool


def permission(verb: str) -> str:
    """The permission that a verb asks for."""
    return f"saga_app.{verb}_execution"


def offered(request: HttpRequest, execution: Execution, facts: Snapshot) -> tuple[list[Button], dict[str, list[str]]]:
    """The verbs that this user may use now; and the others, by the reason why not. `facts` are the execution's."""
    held = execution.lease_holder is not None
    allowed = _with_others(execution, {verb: eligibility(verb, facts, held=held) for verb in VERBS})
    buttons: list[Button] = []
    refused: dict[str, list[str]] = {}
    for verb in (*OFFERED, *(["signal"] if gates.signals_of(execution) else [])):
        word, why_not = word_of(verb), _why_not(request, verb, allowed[verb])
        if why_not:
            refused.setdefault(why_not, []).append(word)
        else:
            buttons.append(Button(verb, word, danger=verb == "abandon"))
    return buttons, refused


def _eligibility(execution: Execution) -> dict[str, Eligibility]:
    return _with_others(execution, engine.eligibility(execution))


def _with_others(execution: Execution, allowed: dict[str, Eligibility]) -> dict[str, Eligibility]:
    """Fork asks what rerun asks: has it ended. Move asks first what abandon asks: is it stuck.

    A signal may be sent before a gate waits for it: it is kept. Decisions are given at the gates that ask for them.
    """
    moved = elsewhere.movable(execution, allowed["abandon"])
    signal: Eligibility = Refused("terminal") if execution.status in TERMINAL else Allowed()
    return {**allowed, "fork": allowed["rerun"], "move": moved, "signal": signal}


def word_of(verb: str) -> str:
    """What an operator calls a verb, at the beginning of a sentence or on a button."""
    return capfirst(messages.verb_word(verb))


def _why_not(request: HttpRequest, verb: str, answer: Eligibility) -> str:
    if not request.user.has_perm(permission(verb)):
        return str(_("You do not have the permission “%s”.") % permission(verb))
    return reason_of(answer)


def reason_of(answer: Eligibility) -> str:
    """Why a verb is refused; empty where it is allowed."""
    return messages.sentence(answer.code, answer.params) if isinstance(answer, Refused) else ""


def confirm(admin: ExecutionAdmin, request: HttpRequest, execution: Execution, verb: str) -> HttpResponseBase:
    """The confirm page of a verb: GET shows what it would do, POST does it.

    Raises:
        PermissionDenied: the user may not use this verb.
        Http404: the verb is for a gate, and the address names none.
    """
    form = _form(request, execution, verb)
    if request.method != "POST" or not form.is_valid():
        return _page(admin, request, execution, verb, form)
    try:
        after = getattr(engine, verb)(execution.pk, actor=request.user, **form.arguments())
    except SagaError as error:  # a refusal, or an input that the saga does not take any more: nothing was changed
        form.add_error(None, sentence_of(error))
        now = admin.execution(request, execution.pk) or execution
        return _page(admin, request, now, verb, form, status=HTTPStatus.CONFLICT)
    _record(admin, request, execution, verb, form)
    said = _("%(verb)s: accepted. What becomes of it is shown here.") % {"verb": word_of(verb)}
    admin.message_user(request, said, flash.SUCCESS)
    return HttpResponseRedirect(run_url(admin, after.pk))


def run_url(admin: ExecutionAdmin, pk: object) -> str:
    """The address of a run page."""
    return reverse("admin:saga_app_execution_change", args=[pk], current_app=admin.admin_site.name)


def _form(request: HttpRequest, execution: Execution, verb: str) -> VerbForm:
    if verb in GATE_VERBS:
        return gates.make_form(request, verb, execution)
    if not request.user.has_perm(permission(verb)):
        raise PermissionDenied
    if verb in VERBS_ELSEWHERE:
        return elsewhere.make_form(request, verb, execution)
    return form_class(verb)(verb, execution, data=request.POST if request.method == "POST" else None)


def sentence_of(error: SagaError) -> str:
    """What an operator reads of an error: of a refusal, in their language."""
    return messages.sentence(error.code, error.params) if isinstance(error, VerbRefused) else str(error)


def _record(admin: ExecutionAdmin, request: HttpRequest, execution: Execution, verb: str, form: VerbForm) -> None:
    """Write the verb into Django's own log as well (ours is the history, which outlives the user).

    The code and not the word is stored: whoever reads it later may read another language.
    """
    reason = form.cleaned_data["reason"]
    admin.log_change(request, execution, f"{verb}: {reason}" if reason else verb)


def _why_not_now(request: HttpRequest, execution: Execution, verb: str, form: VerbForm) -> str:
    if isinstance(form, gates.GateForm):
        return gates.why_not(request, execution, verb, str(form["gate"].value()))
    return reason_of(_eligibility(execution)[verb])


def _facts(execution: Execution, verb: str, form: VerbForm, why_not: str) -> dict[str, Any]:
    """What the page of this verb shows beside what all show."""
    if isinstance(form, gates.GateForm):
        return gates.facts(execution, verb, str(form["gate"].value()))
    return elsewhere.facts(execution, form) if verb in VERBS_ELSEWHERE and not why_not else {}


def _page(
    admin: ExecutionAdmin, request: HttpRequest, execution: Execution, verb: str, form: VerbForm, status: int = 200
) -> TemplateResponse:
    word = word_of(verb)
    why_not = _why_not_now(request, execution, verb, form)
    facts = _facts(execution, verb, form, why_not)
    context: dict[str, Any] = {
        **admin.run_context(request, execution, here=word),
        "title": _("%(verb)s %(execution)s") % {"verb": word, "execution": execution},
        "verb": verb,
        "word": word,
        "effect": EFFECT[verb],
        "danger": verb == "abandon",
        "why_not": why_not,
        "reason_required": verb in REASON_REQUIRED,
        "form": form,
        "step_path": execution.failing_path,
        "seen": execution.version if status == HTTPStatus.CONFLICT or not form.is_bound else form["version"].value(),
        "plan_title": PLAN_GIVEN_UP if verb == "abandon" else PLAN_TITLE,
        "cause": cause_of(execution),
        "plan": plan_of(execution) if verb in SHOWS_PLAN else None,
        "undone": undone_of(execution) if verb in SHOWS_UNDONE else None,
        **facts,
    }
    return TemplateResponse(request, "admin/saga_app/execution/confirm.html", context, status=status)
