"""What is stuck, grouped by its cause: one mended cause frees many executions, so that is what an operator acts on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from saga_app import messages
from saga_app.admin.values import Failure, failure
from saga_app.core.failures import readable
from saga_app.models import Execution
from saga_app.store.stuck import SAMPLE, counted, is_back, raised, stuck_of
from saga_app.store.transactions import alias


@dataclass(frozen=True, slots=True)
class Group:
    """Executions that are stuck of one cause.

    Attributes:
        cause: the hash that is the group's identity.
        count: how many there are.
        first: since when the first of them is stuck.
        last: since when the last.
        lately: how many came within the last hour.
        again: how many an operator has resumed before, and here they are again.
        sample: the latest of them, as far as a link to it needs it.
        back: they were going back.
        failure: what was raised, where something was.
    """

    cause: str
    count: int
    first: datetime
    last: datetime
    lately: int
    again: int
    sample: Execution
    back: bool
    failure: Failure | None

    @property
    def line(self) -> str:
        """The cause in one line: what was raised, or the reason where nothing was."""
        return self.failure.line if self.failure else messages.reason_word(self.sample.stuck_reason)

    @property
    def direction(self) -> str:
        """Where it was going."""
        return messages.word(messages.DIRECTION, "compensate" if self.back else "forward")

    @property
    def title(self) -> str:
        """The group in a few words, as a batch of it is called."""
        return f"{readable(self.sample.saga)} {readable(self.sample.failing_path)}: {self.line}"


def groups(most: int) -> tuple[list[Group], bool]:
    """The largest groups, and whether there are more."""
    rows = list(counted(Execution.objects.using(alias()).stuck())[: most + 1])
    return [_group(row) for row in rows[:most]], len(rows) > most


def group(cause: str) -> Group | None:
    """The group of that cause; None where nothing is stuck of it (any more)."""
    row = counted(stuck_of(cause)).first()
    return _group(row) if row else None


def _group(row: dict[str, Any]) -> Group:
    told = row["sample"]
    sample = Execution(id=UUID(told["id"]), **{name: told[name] for name in SAMPLE})
    return Group(**{**row, "sample": sample}, back=is_back(told), failure=failure(raised(told)))
