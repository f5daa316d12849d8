"""Idempotency keys: a function of execution, path and direction, so that every attempt carries the same one."""

from __future__ import annotations

import hashlib

FORWARD = "forward"
COMPENSATE = "compensate"
LONGEST = 255  # characters; what payment providers commonly accept


def idempotency_key(execution_id: object, path: str, direction: str = FORWARD) -> str:
    """`saga:{execution}:{path}:{direction}`, with the path hashed where the whole would be too long."""
    key = f"saga:{execution_id}:{path}:{direction}"
    if len(key) <= LONGEST:
        return key
    digest = hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()
    return f"saga:{execution_id}:{digest}:{direction}"
