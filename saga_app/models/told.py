"""What programs are told of each row beside its values: one list for the API and the download."""

from __future__ import annotations

STEP = (
    "seq", "path", "name", "kind", "status", "choice", "attempt", "attempt_limit", "idempotency_key", "owes",
    "may_have_happened", "outcome_known", "due_at", "started_at", "finished_at", "compensation_status",
    "compensation_attempt", "compensation_limit", "compensation_due_at", "compensation_started_at",
    "compensation_finished_at", "child_id", "origin", "taken_by", "queue", "progress", "progress_text",
)  # fmt: skip
SIGNAL = ("id", "name", "key", "verdict", "sender_name", "received_at", "consumed_by")
EVENT = ("id", "at", "type", "actor_name", "reason")
