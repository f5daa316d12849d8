"""What the API takes: bodies and queries. Types are checked, never coerced; unknown names of a body are refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from saga_app.core.status import Status, StuckReason

MAX_REASON = 10_000
MAX_VERSION = 2**63 - 1
MAX_PATH = 255


class TextField(serializers.CharField):
    """A string, taken as it is: no number instead, nothing trimmed, no NUL, no lone surrogate."""

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, **options)

    def to_internal_value(self, data: Any) -> str:
        """Refuse what is not a string."""
        if not isinstance(data, str):
            self.fail("invalid")
        return data


class VersionField(serializers.IntegerField):
    """The `version` of an execution that the caller has seen: a JSON number, not its text."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_value=0, max_value=MAX_VERSION, **options)

    def to_internal_value(self, data: Any) -> int:
        """Refuse what is not an integer; a bool is not."""
        if type(data) is not int:
            self.fail("invalid")
        return data


class MappingField(serializers.Field[dict[str, Any], Any, Any, Any]):
    """A JSON object, handed on as it is: the saga knows what belongs in it."""

    default_error_messages = {"invalid": "Not an object."}

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Refuse what is not an object."""
        if not isinstance(data, dict):
            self.fail("invalid")
        return data


class Closed(serializers.Serializer[Any]):
    """A request body that refuses names it does not know: a misspelt option must not be an option left out."""

    def to_internal_value(self, data: Any) -> Any:
        """Refuse unknown names, then check the known ones."""
        unknown = set(data) - set(self.fields) if isinstance(data, Mapping) else set()
        if unknown:
            known = ", ".join(self.fields)
            text = f"Unknown; this address takes {known}."
            raise serializers.ValidationError(dict.fromkeys(sorted(unknown), text), code="unknown")
        return super().to_internal_value(data)


class StartRequest(Closed):
    """Which saga to start, with what, and under which key."""

    saga = TextField(max_length=100)
    input = MappingField(default=dict)
    key = TextField(max_length=255, default=None, allow_null=True)


class VerbRequest(Closed):
    """Why the caller asks, and, where they want to be refused if it has changed since, the version they saw."""

    reason = TextField(max_length=MAX_REASON, default="", allow_blank=True)
    version = VersionField(default=None, allow_null=True)


class PlanRequest(VerbRequest):
    """The same for a verb that acts on a plan: there the version that the caller decided on is not optional."""

    version = VersionField()


class AnyField(serializers.Field[Any, Any, Any, Any]):
    """Any JSON value, handed on as it is."""

    def to_internal_value(self, data: Any) -> Any:
        """Whatever it is."""
        return data


class SignalRequest(Closed):
    """Which signal, with what, and under which key."""

    name = TextField(max_length=255)
    payload = AnyField(default=None, allow_null=True)
    key = TextField(max_length=255, default=None, allow_null=True)
    reason = TextField(max_length=MAX_REASON, default="", allow_blank=True)


class TruthField(serializers.Field[bool, Any, Any, Any]):
    """True or false, and nothing that could be meant by one of them."""

    default_error_messages = {"invalid": "Not true or false."}

    def to_internal_value(self, data: Any) -> bool:
        """Refuse what is not a bool."""
        if not isinstance(data, bool):
            self.fail("invalid")
        return data


class SkipRequest(PlanRequest):
    """What became of the step it is stuck at, and what that returned if it happened."""

    path = TextField(max_length=MAX_PATH)
    happened = TruthField()
    output = AnyField(default=None, allow_null=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """What did not happen returned nothing."""
        if attrs["output"] is not None and not attrs["happened"]:
            raise serializers.ValidationError({"output": "What did not happen returned nothing."}, code="invalid")
        return attrs


class ResolveRequest(PlanRequest):
    """Which compensation was done by hand."""

    path = TextField(max_length=MAX_PATH)


class MoveRequest(PlanRequest):
    """In which revision it goes on."""

    revision = VersionField()


class RerunRequest(Closed):
    """The key of the new execution."""

    key = TextField(max_length=255, default=None, allow_null=True)
    reason = TextField(max_length=MAX_REASON, default="", allow_blank=True)


class ForkRequest(RerunRequest):
    """The step that it begins at."""

    path = TextField(max_length=MAX_PATH)


class DecisionRequest(VerbRequest):
    """At which approval, with what it asks to be filled in, and under which key."""

    gate = TextField(max_length=MAX_PATH)
    values = MappingField(default=None, allow_null=True)
    key = TextField(max_length=255, default=None, allow_null=True)


class Query(serializers.Serializer[Any]):
    """What a list can be narrowed to: columns with an index, compared exactly."""

    saga = serializers.CharField(max_length=100, required=False, trim_whitespace=False)
    status = serializers.ChoiceField([status.value for status in Status], required=False)
    stuck_reason = serializers.ChoiceField([reason.value for reason in StuckReason if reason], required=False)
    key = serializers.CharField(max_length=255, required=False, trim_whitespace=False)
