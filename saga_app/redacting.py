"""What `SAGA["REDACT"]` hides, wherever stored values are shown: pages, downloads, the API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from saga_app.conf import settings
from saga_app.core.redaction import HIDDEN, Redaction

if TYPE_CHECKING:
    from saga_app.core.saga import Saga


def redacted(data: Any, *names: str) -> Any:
    """JSON values without what `SAGA["REDACT"]` hides: at any depth, and as a whole where a name of theirs says so."""
    redaction = Redaction(settings.REDACT)
    return HIDDEN if data is not None and any(map(redaction.hides, names)) else redaction.apply(data)


def provided(saga: Saga[Any] | None, path: str) -> str:
    """The name under which the output of a record is known to others; "" where nobody can say."""
    node = saga.node(path) if saga else None
    return str(getattr(node, "provides", None) or "")


def returned(saga: Saga[Any] | None) -> str:
    """What the output of the whole execution is called inside its saga; "" where nobody can say."""
    return saga.output.path if saga and saga.output else ""
