"""Says why a value cannot be stored, and what to give instead. Looks at its type alone: never at its text."""

from __future__ import annotations

import functools
import io
import types
from collections.abc import Awaitable, Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from uuid import UUID

from django.core.files import File
from django.db.models import Manager, QuerySet
from django.db.models.query import RawQuerySet
from django.utils.functional import Promise
from django.utils.safestring import SafeString

FUNCTIONS = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.MethodWrapperType,
    types.WrapperDescriptorType,
    functools.partial,
)

# The first that fits.
REASONS: list[tuple[type | tuple[type, ...], str]] = [
    (types.GeneratorType, "a generator can be read only once: give a list"),
    (types.AsyncGeneratorType, "an async generator can be read only once: give a list"),
    (types.CoroutineType, "a coroutine is work not yet done: await it and give its result"),
    (FUNCTIONS, "a function cannot be stored"),
    (type, "a class cannot be stored"),
    (types.ModuleType, "a module cannot be stored"),
    ((QuerySet, RawQuerySet), "a queryset is a question, not an answer: give a list, or the primary keys"),
    (Manager, "a manager cannot be stored"),
    (Promise, "a lazy text is in whatever language is active when it is read: give str() of it"),
    ((io.IOBase, File), "an open file cannot be stored: give its name, or its bytes"),
    (SafeString, 'a SafeString is a subclass of str: give plain text, as in value + ""'),
    ((bytearray, memoryview), "only bytes can be stored: give bytes() of it"),
    (BaseException, "an exception cannot be stored: give str() of it"),
]
PLAIN = (
    str,
    bool,
    int,
    float,
    bytes,
    list,
    dict,
    tuple,
    set,
    frozenset,
    datetime,
    date,
    time,
    timedelta,
    Decimal,
    UUID,
)


def reason(cls: type) -> str:
    """Why no value of this class can be stored."""
    for kinds, text in REASONS:
        if issubclass(cls, kinds):
            return text
    name = f"{cls.__module__}.{cls.__qualname__}"
    for plain in PLAIN:
        if issubclass(cls, plain):
            return f"{name} is a subclass of {plain.__name__}, which would not come back: give a plain {plain.__name__}"
    if issubclass(cls, Iterator):
        return f"an iterator ({name}) can be read only once: give a list"
    if issubclass(cls, Awaitable):
        return f"an awaitable ({name}) is work not yet done: await it and give its result"
    return f"{name} cannot be stored: give its parts, or make it a dataclass"
