"""What the page of a batch shows: the draft with its preview and form, then progress, outcomes and who did what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from saga_app import batches, messages
from saga_app.admin.batch_forms import BeginForm
from saga_app.admin.verbs import EFFECT
from saga_app.core.batching import BATCH_VERBS, ENDED, Act, BatchStatus, ItemStatus, offered
from saga_app.core.failures import readable
from saga_app.core.verbs import REASON_REQUIRED
from saga_app.models import OperatorBatch, OperatorBatchItem
from saga_app.store import batch_reads
from saga_app.store.transactions import alias

ITEMS = 50  # on one page
SHOWN = ("status", "stuck_reason", "saga", "key")  # of each execution
ON_ITS_OWN = frozenset({Act.PAUSE, Act.CANCEL})  # to stop is allowed to whoever may use batches at all


@dataclass(frozen=True, slots=True)
class Button:
    """What this user may do with a batch now."""

    act: str
    word: str
    danger: bool


@dataclass(frozen=True, slots=True)
class Count:
    """How many items came to one outcome; `code` and `why` are of the refusals among them."""

    status: str
    word: str
    number: int
    reasons: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the history."""

    at: datetime | None
    word: str
    who: str
    why: str


class _Known(Paginator):  # type: ignore[type-arg]
    """Pages of items that have been counted already."""

    def __init__(self, found: Any, size: int, known: int) -> None:
        self._known = known
        super().__init__(found, size)

    @cached_property
    def count(self) -> int:
        """How many there are."""
        return self._known


def batch_url(site: str, batch: OperatorBatch) -> str:
    """The address of a batch's page: what begins it while it is a draft, how far it is afterwards."""
    return reverse("admin:saga_app_operatorbatch_change", args=[batch.pk], current_app=site)


def needed(act: str, verb: str) -> tuple[str, ...]:
    """The permissions that an act on a batch of that verb asks for."""
    return (batches.PERMISSION,) if act in (*ON_ITS_OWN, "discard") else batches.permissions(verb)


def verb_word(batch: OperatorBatch) -> str:
    """What its verb is called, at the beginning of a sentence or on a button."""
    return capfirst(messages.verb_word(batch.verb))


def context(request: HttpRequest, batch: OperatorBatch, form: BeginForm | None = None) -> dict[str, Any]:
    """The parts of the page."""
    counted = batch_reads.counts(batch, alias())
    pending = sum(number for (status, _code), number in counted.items() if status == ItemStatus.PENDING)
    items = _page(request, batch, counted)
    return {
        "batch": batch,
        "verb": verb_word(batch),
        "status": messages.word(messages.BATCH, batch.status),
        "halted": messages.word(messages.HALTED, batch.halted_because) if batch.halted_because else "",
        "over": batch.status in ENDED,
        "done": batch.size - pending,
        "counts": list(_counts(counted)),
        "outcome": request.GET.get("outcome", ""),
        "items": items,
        "rows": [(item, messages.word(messages.ITEM, item.status), _sentence(item)) for item in items.object_list],
        "lines": [_line(line) for line in batch.history],
        **(
            _draft(request, batch, form) if batch.status == BatchStatus.DRAFT else {"buttons": _buttons(request, batch)}
        ),
    }


def _draft(request: HttpRequest, batch: OperatorBatch, form: BeginForm | None) -> dict[str, Any]:
    if batch.verb not in BATCH_VERBS:
        return {"draft": True, "why_not": _("Nobody knows this verb here.")}
    preview = batches.preview(batch)
    permission = next((one for one in needed(Act.BEGIN, batch.verb) if not request.user.has_perm(one)), "")
    return {
        "draft": True,
        "why_not": _("You do not have the permission “%s”.") % permission if permission else "",
        "effect": EFFECT[batch.verb],
        "eligible": preview.eligible,
        "refused": [(number, messages.sentence(code)) for code, number in preview.refused.items()],
        "form": form or BeginForm(batch, initial={"canary": request.GET.get("canary", "")}),
        "danger": batch.verb == "abandon",
        "reason_required": batch.verb in REASON_REQUIRED,
        "may_discard": batches.has_all(request.user, needed("discard", batch.verb)),
    }


def _buttons(request: HttpRequest, batch: OperatorBatch) -> list[Button]:
    holding = batch.status == BatchStatus.HOLDING
    words = {
        Act.PAUSE: pgettext("a batch", "Pause"),
        Act.GO_ON: _("Go on with the rest") if holding else pgettext("a batch", "Go on"),
        Act.CANCEL: _("Leave the rest alone") if holding else pgettext("a batch", "Cancel"),
    }
    allowed = [act for act in offered(batch.status) if batches.has_all(request.user, needed(act, batch.verb))]
    return [Button(str(act), words[act], danger=act == Act.CANCEL) for act in allowed]


def _counts(counted: dict[tuple[str, str], int]) -> Iterator[Count]:
    """Each outcome that there is, in the order of a life; refusals with their reasons, the commonest first."""
    for status in ItemStatus:
        found = {code: number for (one, code), number in counted.items() if one == status}
        if found:
            by_number = sorted(found.items(), key=lambda each: -each[1])
            reasons = tuple((number, _general(code)) for code, number in by_number if code)
            yield Count(str(status), messages.word(messages.ITEM, status), sum(found.values()), reasons)


def _general(code: str) -> str:
    """Why some were refused, whatever is particular to each of them."""
    return messages.sentence("changed_since" if code == "version_changed" else code)


def _page(request: HttpRequest, batch: OperatorBatch, counted: dict[tuple[str, str], int]) -> Any:
    """The slice that the address asks for, each item with its execution as it is now."""
    found = OperatorBatchItem.objects.using(alias()).filter(batch=batch).order_by("id")
    wanted = request.GET.get("outcome", "")
    if wanted in list(ItemStatus):
        found = found.filter(status=wanted)
        known = sum(number for (status, _code), number in counted.items() if status == wanted)
    else:
        known = batch.size
    fields = ("status", "code", "params_text", "at", "batch", *(f"execution__{name}" for name in SHOWN))
    shown = found.select_related("execution").only(*fields)
    return _Known(shown, ITEMS, known).get_page(request.GET.get("items"))


def _sentence(item: OperatorBatchItem) -> str:
    """Why it was refused, or what went wrong."""
    if item.status == ItemStatus.FAILED:
        return readable(f"{item.code}: {item.params.get('text', '')}")
    return readable(messages.sentence(item.code, item.params)) if item.code else ""


def _line(line: dict[str, Any]) -> Line:
    why = str(line.get("why", ""))
    if line.get("what") == Act.HALT:
        why = messages.word(messages.HALTED, why)
    return Line(
        at=_moment(str(line.get("at", ""))),
        word=messages.word(messages.BATCH_ACT, str(line.get("what", ""))),
        who=readable(str(line.get("by", ""))),
        why=readable(why),
    )


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def title(batch: OperatorBatch) -> str:
    """What a batch is called."""
    counted = ngettext("%(count)d execution", "%(count)d executions", batch.size) % {"count": batch.size}
    return f"{verb_word(batch)}: {counted}"
