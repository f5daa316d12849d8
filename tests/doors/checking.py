"""Runs the system checks and sorts what they say."""

from __future__ import annotations

from typing import Any

from django.core.checks import CheckMessage, run_checks

from saga_app import checks


def found(**kwargs: Any) -> dict[str, list[CheckMessage]]:
    """Our messages by id."""
    by_id: dict[str, list[CheckMessage]] = {}
    for message in run_checks(tags=[checks.TAG], **kwargs):
        assert message.hint, f"{message.id} does not say how to cure it"
        by_id.setdefault(str(message.id), []).append(message)
    return by_id


def only(code: str) -> CheckMessage:
    """That message, and no other."""
    messages = found()
    assert list(messages) == [f"saga_app.{code}"], messages
    (message,) = messages[f"saga_app.{code}"]
    return message
