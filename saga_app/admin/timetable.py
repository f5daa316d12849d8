"""The schedules of a saga as its page shows them, the form that makes one, and what may be done about one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from saga_app import clock
from saga_app.admin.fields import field_for_moment
from saga_app.admin.short import in_short
from saga_app.admin.starting import SagaForm
from saga_app.core.errors import SagaError
from saga_app.core.failures import readable
from saga_app.core.saga import Saga
from saga_app.queue import schedules
from saga_app.queue.schedules import Planned, Timing

ACTS = {
    "pause": gettext_lazy("Pause"),
    "go-on": gettext_lazy("Go on"),
    "delete": gettext_lazy("Delete"),
}
EFFECT = {
    "pause": gettext_lazy("It starts nothing until it goes on. What it has started goes on."),
    "go-on": gettext_lazy(
        "It starts executions again, from the next of its times on. What it missed is not made up for."
    ),
    "delete": gettext_lazy("It is deleted, and starts nothing any more. What it has started goes on."),
}
#: django-q2's words for the fields of a schedule → ours.
_FIELDS = {"schedule_type": "kind", "next_run": "first", "minutes": "minutes", "cron": "cron", "repeats": "repeats"}


@dataclass(frozen=True, slots=True)
class Row:
    """One schedule.

    Attributes:
        acts: what may be done about it now, each with its word.
        keys: how the keys of its executions begin.
    """

    pk: int
    name: str
    every: str
    left: str
    state: str
    next_run: Any
    given: str
    failed: bool
    keys: str
    acts: list[tuple[str, Any]]


class ScheduleForm(SagaForm):
    """When a saga is started, and with what. Its mark makes a second click harmless."""

    mark = forms.RegexField(r"^[0-9a-f]{12}$", widget=forms.HiddenInput)
    name = forms.CharField(label=gettext_lazy("Name"), required=False, max_length=100)
    kind = forms.ChoiceField(label=gettext_lazy("How often"))
    minutes = forms.IntegerField(
        label=gettext_lazy("Minutes"),
        required=False,
        min_value=1,
        max_value=32_767,
        help_text=gettext_lazy("Of every so many minutes."),
    )
    cron = forms.CharField(label=gettext_lazy("Cron expression"), required=False, max_length=100)
    first = field_for_moment(label=gettext_lazy("First time"), help_text=gettext_lazy("Empty: at once."))
    repeats = forms.IntegerField(
        label=gettext_lazy("How many times"),
        required=False,
        min_value=1,
        max_value=2**31 - 1,
        help_text=gettext_lazy("Empty: without end."),
    )

    def __init__(self, saga: Saga[Any], **options: Any) -> None:
        super().__init__(saga, **options)
        self.initial["mark"] = clock.token()
        kinds = schedules.kinds()
        self.fields["kind"].choices = kinds  # type: ignore[attr-defined]
        if "C" not in dict(kinds):
            del self.fields["cron"]

    def clean_first(self) -> datetime | None:
        """A wrong year would start thousands at once."""
        first: datetime | None = self.cleaned_data["first"]
        if first is not None and schedules.is_missed(first):
            raise ValidationError(_("This moment has passed: whatever was planned since then would start at once."))
        return first

    def clean(self) -> None:
        """What each kind needs; then the input."""
        kind = self.cleaned_data.get("kind")
        if kind == "I" and not self.cleaned_data.get("minutes") and "minutes" not in self.errors:
            self.add_error("minutes", _("Say after how many minutes."))
        if kind == "C" and not self.cleaned_data.get("cron") and "cron" not in self.errors:
            self.add_error("cron", _("Write an expression, as in “0 2 * * *”."))
        super().clean()

    def make(self) -> Planned | None:
        """Make it; None where it is refused, the form saying why."""
        given = self.cleaned_data
        timing = Timing(
            kind=given["kind"],
            first=given["first"],
            minutes=given["minutes"] if given["kind"] == "I" else None,
            cron=given.get("cron", "") if given["kind"] == "C" else "",
            repeats=given["repeats"] or schedules.FOREVER,
        )
        try:
            return schedules.add(self.saga, self.values, timing, name=given["name"], mark=given["mark"])
        except ValidationError as error:
            for field, problems in error.message_dict.items():
                ours = _FIELDS.get(field, field)
                self.add_error(ours if ours in self.fields and field != NON_FIELD_ERRORS else None, problems)
        except SagaError as error:
            self.refuse(error)
        return None


def rows(saga: str, *, may: bool) -> list[Row]:
    """The schedules of a saga; `may`: whoever looks may do something about them."""
    return [row_of(one, may=may) for one in schedules.planned(saga)]


def row_of(one: Planned, *, may: bool = True) -> Row:
    """One schedule as a page shows it."""
    acts = ["delete"] if one.is_over else ["go-on", "delete"] if one.held is not None else ["pause", "delete"]
    over = _("over") if one.is_over else ""
    return Row(
        pk=one.row.pk,
        name=readable(one.row.name or ""),
        every=_every(one),
        left=_left(one),
        state=_("paused") if one.held is not None else over,
        next_run=None if one.held is not None or one.is_over else one.row.next_run,
        given=in_short(one.text, len(one.text)),
        failed=one.failed,
        keys=schedules.prefix(one.mark),
        acts=[(act, ACTS[act]) for act in acts] if may else [],
    )


def _every(one: Planned) -> str:
    if one.row.schedule_type == "I":
        count = one.row.minutes or 1
        return ngettext("every minute", "every %(count)d minutes", count) % {"count": count}
    if one.row.schedule_type == "C":
        return f"cron {readable(one.row.cron or '')}"
    return str(one.row.get_schedule_type_display())


def _left(one: Planned) -> str:
    if one.left < 0:
        return _("without end")
    return ngettext("%(count)d time", "%(count)d times", one.left) % {"count": one.left}
