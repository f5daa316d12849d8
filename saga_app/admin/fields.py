"""One value as a field of a form: from the type that is declared for it, or from a field of a serializer."""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from django import forms
from django.db.models import Model
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

A_DAY = timedelta(days=1)
NOT_JSON = _('This is not JSON. A text needs quotation marks: "like this".')


class JsonField(forms.Field):
    """Any value that JSON can say: what is asked for where there is no better way."""

    def __init__(self, **options: Any) -> None:
        attrs = {"rows": 3, "class": "saga-code", "spellcheck": "false"}
        super().__init__(**{"widget": forms.Textarea(attrs=attrs), "help_text": _("As JSON."), **options})

    def clean(self, value: Any) -> Any:
        """The value; nothing is None. An empty list, or a null that somebody wrote, is something."""
        text = str(value or "").strip()
        if not text and self.required:
            raise forms.ValidationError(self.error_messages["required"], code="required")
        try:
            return json.loads(text) if text else None
        except (ValueError, RecursionError) as error:
            raise forms.ValidationError(NOT_JSON) from error


class Choice(forms.TypedChoiceField):
    """One of a few values, none of them chosen beforehand: what somebody answers for is not what came first."""

    def __init__(self, options: Iterable[tuple[object, Any, Any]], **more: Any) -> None:
        rows = [(str(key), label, value) for key, label, value in options]
        if len({key for key, _, _ in rows}) < len(rows):
            rows = [(str(number), label, value) for number, (_, label, value) in enumerate(rows)]
        self.values = {key: value for key, _, value in rows}
        choices = [("", "–"), *((key, label) for key, label, _ in rows)]
        super().__init__(choices=choices, coerce=self.values.__getitem__, empty_value=None, **more)


class Moment(forms.DateTimeField):
    """A moment that can be told in every time zone: the first and the last days of the calendar cannot."""

    def clean(self, value: Any) -> Any:
        """The moment, or nothing."""
        moment = super().clean(value)
        try:
            for farthest in (-A_DAY, A_DAY) if moment else ():
                timezone.localtime(moment + farthest, UTC)
        except OverflowError as error:
            raise forms.ValidationError(self.error_messages["invalid"], code="invalid") from error
        return moment


def field_for(declared: Any) -> forms.Field:
    """A field for a value of that type; it must be filled in, unless the type allows None."""
    wanted, nullable = _without_none(declared)
    made = _made(wanted)
    made.required = not nullable
    return made


def text_of(field: forms.Field, value: Any) -> str | None:
    """What the field shows for that value, if it would be read back as that very value; else None."""
    try:
        text = _shown(field, value)
        back = field.clean(text)
    except (forms.ValidationError, TypeError, ValueError, RecursionError, StopIteration):
        return None
    return text if type(back) is type(value) and back == value else None


def _shown(field: forms.Field, value: Any) -> str:
    if isinstance(field, JsonField):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(field, Choice):
        return next(key for key, one in field.values.items() if type(one) is type(value) and one == value)
    return str(field.widget.format_value(field.prepare_value(value)) or "")


def _without_none(declared: Any) -> tuple[Any, bool]:
    """The type without None and without what only wraps it, and whether None was one of its values."""
    if isinstance(declared, typing.NewType):
        return _without_none(declared.__supertype__)
    origin, arguments = typing.get_origin(declared), typing.get_args(declared)
    if origin is typing.Annotated:
        return _without_none(arguments[0])
    if origin in {typing.Union, types.UnionType}:
        rest = [one for one in arguments if one is not type(None)]
        nullable = len(rest) < len(arguments)
        return (_without_none(rest[0])[0], nullable) if len(rest) == 1 else (declared, nullable)
    return declared, declared in {None, type(None)} or (origin is typing.Literal and None in arguments)


def _made(wanted: Any) -> forms.Field:
    if typing.get_origin(wanted) is typing.Literal:
        return Choice([(one, one, one) for one in typing.get_args(wanted) if one is not None])
    if wanted in _PLAIN:
        return _PLAIN[wanted]()
    if isinstance(wanted, type) and issubclass(wanted, Enum):
        return Choice([(one.name, _label(one), one) for one in wanted])
    if isinstance(wanted, type) and issubclass(wanted, Model):
        rows = wanted._default_manager.all()  # noqa: SLF001 - what Django's own forms begin with
        return forms.ModelChoiceField(rows, widget=forms.TextInput, help_text=_("Its primary key."))
    return JsonField()


def _label(member: Enum) -> Any:
    """Django's own enumerations have labels; of others the value says more than the name, where it is text."""
    return getattr(member, "label", None) or (member.value if isinstance(member.value, str) else member.name)


def _yes_or_no() -> forms.Field:
    return Choice([("true", _("yes"), True), ("false", _("no"), False)])


def field_for_moment(**options: Any) -> Moment:
    """A moment to the second, in the zone in which the page shows moments; it may be left out."""
    widget = forms.DateTimeInput(attrs={"type": "datetime-local", "step": "1"}, format="%Y-%m-%dT%H:%M:%S")
    return Moment(widget=widget, required=False, **options)


def _moment() -> forms.Field:
    return field_for_moment(help_text=_("Time zone: %(zone)s.") % {"zone": timezone.get_current_timezone_name()})


def _day() -> forms.Field:
    return forms.DateField(widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"))


def _time() -> forms.Field:
    return forms.TimeField(widget=forms.TimeInput(attrs={"type": "time", "step": "1"}, format="%H:%M:%S"))


def _length() -> forms.Field:
    return forms.DurationField(help_text=_("In seconds, or as hours:minutes:seconds."))


_PLAIN: dict[Any, Callable[[], forms.Field]] = {
    str: forms.CharField,
    int: forms.IntegerField,
    float: forms.FloatField,
    bool: _yes_or_no,
    Decimal: forms.DecimalField,
    datetime: _moment,
    date: _day,
    time: _time,
    timedelta: _length,
    UUID: forms.UUIDField,
}

#: Fields of serializers by the names of their classes: REST framework is not imported here.
_OF_SERIALIZERS: dict[str, Any] = {
    "MultipleChoiceField": None,
    "BooleanField": bool,
    "IntegerField": int,
    "FloatField": float,
    "DecimalField": Decimal,
    "DateTimeField": datetime,
    "DateField": date,
    "TimeField": time,
    "DurationField": timedelta,
    "UUIDField": UUID,
    "CharField": str,
    "RelatedField": str,
}


def field_of_serializer(one: Any) -> forms.Field:
    """A field that asks for what a field of a serializer takes; JSON for lists, dicts and whatever is not known."""
    names = [kind.__name__ for kind in type(one).__mro__]
    if "ChoiceField" in names and "MultipleChoiceField" not in names:
        made: forms.Field = Choice([(key, label, key) for key, label in one.choices.items()])
    else:
        made = _made(next((_OF_SERIALIZERS[name] for name in names if name in _OF_SERIALIZERS), None))
    made.label, made.help_text = one.label, one.help_text or made.help_text
    made.required = not (one.allow_null or getattr(one, "allow_blank", False))
    return made
