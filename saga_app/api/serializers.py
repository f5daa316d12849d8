"""What the API says of an execution.

Formats and zones are named here, field by field, so that the host's REST_FRAMEWORK setting does not change them.
"""

from __future__ import annotations

from datetime import UTC
from typing import Any

from rest_framework import ISO_8601, serializers

from saga_app import codec
from saga_app.awaiting import Awaited, waits_for
from saga_app.core import registry
from saga_app.models import Execution
from saga_app.redacting import redacted, returned

LINE = 200  # characters of an error that a list shows
MOST = 100  # things waited for, and children, in one answer


class MomentField(serializers.DateTimeField):
    """An instant in UTC, as ISO 8601: `2026-01-31T12:00:00.000000Z`."""

    def __init__(self) -> None:
        super().__init__(format=ISO_8601, default_timezone=UTC, read_only=True)


class Wait(serializers.Serializer[Awaited]):
    """One thing that an execution waits for: see `saga_app.awaiting`."""

    kind = serializers.CharField(read_only=True)
    path = serializers.CharField(read_only=True)
    signal = serializers.CharField(read_only=True)
    until = MomentField()
    child = serializers.UUIDField(source="child.pk", default=None, read_only=True)
    queue = serializers.CharField(read_only=True)
    served = serializers.BooleanField(read_only=True)


class Summary(serializers.Serializer[Execution]):
    """An execution without the values that may be large: what lists show and verbs answer."""

    id = serializers.UUIDField(read_only=True)
    saga = serializers.CharField(read_only=True)
    revision = serializers.IntegerField(read_only=True)
    key = serializers.CharField(read_only=True)
    status = serializers.CharField(read_only=True)
    rollback_status = serializers.CharField(read_only=True)
    stuck_reason = serializers.CharField(read_only=True)
    error = serializers.SerializerMethodField()
    cause = serializers.CharField(read_only=True)
    failing_path = serializers.CharField(read_only=True)
    version = serializers.IntegerField(read_only=True)
    resume_count = serializers.IntegerField(read_only=True)
    parent_id = serializers.UUIDField(read_only=True)
    rested_at = serializers.CharField(read_only=True)
    unread_signals = serializers.IntegerField(source="unread", read_only=True)
    due_at = MomentField()
    deadline_at = MomentField()
    cancel_requested_at = MomentField()
    created_at = MomentField()
    started_at = MomentField()
    updated_at = MomentField()
    finished_at = MomentField()

    def get_error(self, execution: Execution) -> dict[str, Any] | None:
        """Why it failed, in a line; the operators' pages have the traceback."""
        error = execution.error
        return None if error is None else {"type": error.type, "message": error.message[:LINE]}


class Detail(Summary):
    """An execution with its input and output, redacted, as JSON shows them (a Decimal is its text)."""

    input = serializers.SerializerMethodField()
    output = serializers.SerializerMethodField()
    waits_for = serializers.SerializerMethodField()
    children = serializers.SerializerMethodField()

    def get_error(self, execution: Execution) -> dict[str, Any] | None:
        """Why it failed, with all that was said."""
        error = execution.error
        return None if error is None else {"type": error.type, "message": error.message, "notes": list(error.notes)}

    def get_input(self, execution: Execution) -> Any:
        """What it was started with, for reading: never decoded, so never failing."""
        return redacted(codec.plain(execution.input_text))

    def get_output(self, execution: Execution) -> Any:
        """What it returned; null while it has not."""
        if execution.output_text is None:
            return None
        name = returned(registry.get(execution.saga, execution.revision))
        return redacted(codec.plain(execution.output_text), name)

    def get_waits_for(self, execution: Execution) -> list[dict[str, Any]]:
        """What it waits for now: the first of it, where there is much."""
        return [dict(Wait(one).data) for one in waits_for(execution, MOST).first]

    def get_children(self, execution: Execution) -> list[str]:
        """The ids of its children, in the order in which they were born: the first of them, where there are many."""
        return [str(pk) for pk in execution.children.order_by("created_at", "pk").values_list("pk", flat=True)[:MOST]]
