"""What `manage.py saga show` says of what an execution waits for."""

from __future__ import annotations

from typing import Any

from saga_app.awaiting import APPROVAL, ATTEMPT, CHILD, SIGNAL, SLEEP, WORKER, Awaited, waits_for
from saga_app.models import Execution
from saga_app.store import workers


def waits(execution: Execution) -> list[str]:
    """A line for each thing it waits for, indented."""
    found = waits_for(execution)
    more = [f"  and {found.more:,} more"] if found.more else []
    return [*(f"  {one.path}: {_said(one)}" for one in found.first), *more]


def as_json(execution: Execution) -> list[dict[str, Any]]:
    """The same as JSON values."""
    return [
        {
            "kind": one.kind,
            "path": one.path,
            "signal": one.signal,
            "permission": one.permission,
            "until": one.until and one.until.isoformat(),
            "child": str(one.child.pk) if one.child else None,
            "queue": one.queue,
            "served": one.served,
        }
        for one in waits_for(execution).first
    ]


def _said(one: Awaited) -> str:
    until = f" until {one.until:%Y-%m-%d %H:%M:%S} UTC" if one.until else ""
    match one.kind:
        case kind if kind == SIGNAL:
            return f"the signal {one.signal}{until}"
        case kind if kind == APPROVAL:
            return f"a decision{f' of somebody with {one.permission}' if one.permission else ''}{until}"
        case kind if kind == SLEEP:
            return f"asleep{until}"
        case kind if kind == ATTEMPT:
            return f"its next attempt{until.replace('until', 'at')}"
        case kind if kind == CHILD and one.child:
            return f"the child {one.child.saga} {one.child.pk}, which is {one.child.status}"
        case kind if kind == WORKER:
            nobody = f", which no worker serves: start {workers.command(one.queue)}"
            return f"a worker of the queue {one.queue or 'of its own'}{'' if one.served else nobody}"
    return f"a worker is at it{f' ({one.holder})' if one.holder else ''}"
