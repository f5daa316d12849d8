"""fork and move: an execution that goes on from records it did not start with, or in a definition it did not (§12)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from saga_app import acting
from saga_app.acting import Request, Target
from saga_app.core import forks, registry, verbs
from saga_app.core.errors import DefinitionError, VerbRefused
from saga_app.core.saga import Saga
from saga_app.core.snapshot import Snapshot
from saga_app.core.start_options import check_start
from saga_app.core.verbs import Refused
from saga_app.models import Execution
from saga_app.store import changes, versions
from saga_app.store import forks as store
from saga_app.store.changes import Locked
from saga_app.store.transactions import alias


def move(
    execution: Target,
    revision: int,
    *,
    actor: Any = None,
    reason: str = "",
    version: int | None = None,
) -> Execution:
    """Go on in another revision of its saga, where the one it was started in is missing or was changed too much.

    Args:
        execution: the execution, or its id.
        revision: the revision to go on in; what ran must fit it. Its own number: the code as it is now.
        actor: who asks, a user.
        reason: why; it must be given.
        version: the version the caller saw; refused (`version_changed`) where it has moved on.
    """
    row = acting.found(execution)

    def change(locked: Locked) -> Snapshot:
        saga = _known(row.saga, revision)
        problem = forks.misfit(saga, locked.facts)
        if problem is not None:
            raise acting.refused(problem)
        versions.keep(saga, alias())
        return verbs.move(locked.facts, saga, locked.now)

    data = {"from": row.revision, "to": revision}
    return acting.act(row, Request("move", actor, reason, version, data), change)


def fork(
    execution: Target,
    path: str,
    *,
    actor: Any = None,
    reason: str = "",
    key: str | None = None,
) -> Execution:
    """Do an ended execution again from one of its steps on: what ran before it is taken over, with its keys.

    From then on the new execution answers for undoing what was taken, and the old one does not. Each record can be
    taken once. The old one's revision is used, and its input.

    Args:
        execution: the execution, or its id.
        path: the step record to begin at.
        actor: who asks, a user.
        reason: why.
        key: names the new execution.

    Returns:
        The new execution.
    """
    row = acting.found(execution)
    saga = _known(row.saga, row.revision)
    check_start(saga.name, key=key)
    request = Request("fork", actor, reason, data={"path": path})
    made: list[Execution] = []

    def work(execution_id: UUID, using: str, note: Callable[..., None]) -> None:
        old = changes.lock(execution_id, using)
        acting.check(old, request)
        planned = _planned(saga, old, path)
        made.append(acting.insert_anew(row, saga, request, key))
        store.take_over(old, made[-1].pk, planned, using)
        note(execution=str(made[-1].pk), taken=len(planned.taken))

    acting.carried_out(row, request, work)
    new = acting.found(made[-1])
    new.is_new = True
    return new


def preview(execution: Target, path: str) -> forks.Fork | Refused:
    """What a fork from that record on would be as things are, or why there can be none."""
    row = acting.found(execution)
    try:
        return _forked(_known(row.saga, row.revision), row, acting.facts_of(row), path)
    except VerbRefused as refused:
        return Refused(refused.code, refused.params)


def revisions(execution: Target) -> dict[int, Refused | None]:
    """The revisions of its saga that are known here, the highest first, each with why it could not go on in it."""
    row = acting.found(execution)
    facts = acting.facts_of(row)
    known = [saga for saga in reversed(registry.all()) if saga.name == row.saga]
    return {saga.revision: _misfit(saga, facts) for saga in known}


def _misfit(saga: Saga[Any], facts: Snapshot) -> Refused | None:
    try:
        saga.seal()
    except DefinitionError:
        return Refused("does_not_fit", {"revision": saga.revision, "path": ""})
    return forks.misfit(saga, facts)


def _forked(saga: Saga[Any], row: Execution, facts: Snapshot, path: str) -> forks.Fork | Refused:
    planned = forks.plan_fork(saga, facts, path, row.pk)
    if isinstance(planned, forks.Fork) and planned.taken and row.parent_id is not None:
        return Refused("is_child", {"parent": str(row.parent_id)})
    return planned


def _planned(saga: Saga[Any], old: Locked, path: str) -> forks.Fork:
    planned = _forked(saga, old.row, old.facts, path)
    if isinstance(planned, Refused):
        raise acting.refused(planned)
    fallen = store.lock_children(planned, alias())
    if fallen is not None:
        raise acting.refused(Refused("child_undone", {"path": fallen.path}))
    return planned


def _known(name: str, revision: int) -> Saga[Any]:
    saga = registry.get(name, revision)
    if saga is None:
        known = sorted(one.revision for one in registry.all() if one.name == name)
        raise acting.refused(
            Refused("unknown_revision", {"saga": name, "revision": revision, "known": ", ".join(map(str, known))})
        )
    saga.seal()
    return saga
