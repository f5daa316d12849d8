"""What somebody fills in for the input of a saga or an approval: the form made of it, the values made of that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from saga_app.admin.fields import field_for, field_of_serializer, text_of
from saga_app.core.errors import InputError
from saga_app.core.inputs import Converted, Field, TypedInput
from saga_app.core.sealing import Input

PREFIX = "value"  # before the names of its fields: the page has fields of its own
LEFT_OUT = object()
CORRECT = _("Correct what is marked below.")


class InputForm(forms.Form):
    """An input, field by field.

    Attributes:
        empties: what a field stands for that was left empty; LEFT_OUT where it is not given then.
    """

    def __init__(self, wanted: Input, **options: Any) -> None:
        super().__init__(**options)
        self.empties: dict[str, Any] = {}
        for name, (field, empty) in _fields(wanted).items():
            self.fields[name], self.empties[name] = field, empty


def input_form(wanted: Input, data: Mapping[str, Any] | None = None) -> forms.BaseForm:
    """The form for an input, filled in where something was sent. A Django form is its own form.

    Args:
        wanted: the input.
        data: what was sent.
    """
    written: Any = wanted.written
    if _is_form(written):
        return written(data=data, prefix=PREFIX)  # type: ignore[no-any-return]
    return InputForm(wanted, data=data, prefix=PREFIX)


def values_of(form: forms.BaseForm, wanted: Input) -> Converted | None:
    """The values that were filled in, converted and checked; None where they do not fit, the form saying why."""
    if not form.is_valid():
        return None
    if not isinstance(form, InputForm):  # a form of the project's has checked itself, with its own widgets
        return Converted({name: form.cleaned_data[name] for name in wanted.names if name in form.cleaned_data}, wanted)
    given = {name: form.cleaned_data[name] for name in form.fields}
    empty = [name for name in form.fields if form[name].data in (None, "")]
    given |= {name: form.empties[name] for name in empty}
    try:
        return wanted.convert({name: value for name, value in given.items() if value is not LEFT_OUT})
    except InputError as error:
        file_errors(form, error.errors)
        return None


def file_errors(form: forms.BaseForm, errors: Mapping[str, str]) -> None:
    """Put each error next to its field; those of no field above all."""
    for name, problem in errors.items():
        form.add_error(name if name in form.fields else None, problem)


def _is_form(written: object) -> bool:
    return isinstance(written, type) and issubclass(written, forms.BaseForm)


def _fields(wanted: Input) -> dict[str, tuple[forms.Field, Any]]:
    if isinstance(wanted, TypedInput):
        return {name: _typed(one) for name, one in wanted.fields.items()}
    written: Any = wanted.written
    fields = written().fields
    return {name: _serialized(fields[name]) for name in wanted.names}


def _typed(one: Field) -> tuple[forms.Field, Any]:
    field = field_for(one.types[0][1] if one.types else None)
    if not one.types:
        field.required = True
    if one.required:
        return field, None
    if one.default is None:
        field.required = False
        return field, LEFT_OUT
    return _with_default(field, one.default())


def _with_default(field: forms.Field, default: Any) -> tuple[forms.Field, Any]:
    """The field with its default in it: what is shown is what is given. A default that cannot be shown stays out."""
    if default is None or default == "":
        field.required = False
        return field, LEFT_OUT
    field.initial = text_of(field, default)
    if field.initial is None:
        field.required = False
        field.help_text = _("%(help)s Left empty: its default.") % {"help": field.help_text}
        return field, LEFT_OUT
    if type(field) is forms.CharField and field.required:  # a text may be cleared
        field.required = False
        return field, ""
    return field, None


def _serialized(one: Any) -> tuple[forms.Field, Any]:
    field = field_of_serializer(one)
    empty: Any = "" if getattr(one, "allow_blank", False) and not one.allow_null else None
    if one.required:
        return field, empty
    if callable(one.default) or one.default is None:  # its mark for "no default" is a class
        field.required = False
        return field, LEFT_OUT
    return _with_default(field, one.default)
