"""What a batch would do to executions as they are: judged by the few facts that count, many of a kind at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from saga_app.core import verbs
from saga_app.core.records import Records
from saga_app.core.snapshot import Record, Snapshot
from saga_app.core.status import Status, StepStatus, StuckReason
from saga_app.core.verbs import GUARDED, Refused

SOME_TIME = datetime(2000, 1, 1, tzinfo=UTC)  # that it happened counts, and not when
CHANGED = "changed_since"
UNKNOWN = "unknown_saga"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """So many executions of which the same is true.

    Attributes:
        count: how many.
        status, stuck_reason: of each.
        pivoted, unwinding, cancel_requested, suspend_requested: whether each has that moment.
        held: a worker drives it.
        backs_off: a step of it waits for its next attempt.
        changed: it has changed since it was selected.
        known: this process knows its saga and revision.
    """

    count: int
    status: str
    stuck_reason: str = ""
    pivoted: bool = False
    unwinding: bool = False
    cancel_requested: bool = False
    suspend_requested: bool = False
    held: bool = False
    backs_off: bool = False
    changed: bool = False
    known: bool = True


@dataclass(frozen=True, slots=True)
class Preview:
    """What would become of a selection.

    Attributes:
        eligible: how many the verb may be used on now.
        refused: code of the refusal → how many, the most first.
    """

    eligible: int
    refused: dict[str, int]


def preview(verb: str, groups: Iterable[Group]) -> Preview:
    """What a verb would do to these, as they are."""
    counts: Counter[str] = Counter()
    for group in groups:
        counts[why_not(verb, group)] += group.count
    eligible = counts.pop("", 0)
    return Preview(eligible, dict(counts.most_common()))


def why_not(verb: str, group: Group) -> str:
    """The code of the refusal; empty where the verb may be used."""
    answer = verbs.eligibility(verb, _picture(group), held=group.held)
    if isinstance(answer, Refused):
        return answer.code
    if verb in GUARDED and group.changed:
        return CHANGED
    return UNKNOWN if verb == "unwind" and not group.known else ""


def _picture(group: Group) -> Snapshot:
    def moment(*, is_there: bool) -> datetime | None:
        return SOME_TIME if is_there else None

    return Snapshot(
        saga="",
        revision=1,
        status=Status(group.status),
        stuck_reason=StuckReason(group.stuck_reason),
        pivoted_at=moment(is_there=group.pivoted),
        unwinding_at=moment(is_there=group.unwinding),
        cancel_requested_at=moment(is_there=group.cancel_requested),
        suspend_requested_at=moment(is_there=group.suspend_requested),
        records=Records([_WAITS] if group.backs_off else ()),
    )


_WAITS = Record(seq=0, path="some", name="some", status=StepStatus.WAITING, attempt=1)
