"""Walks through every state that the pure core can reach with a few small sagas: one started, and its children.

The tables and the world outside are immutable values, and every move of `core` is the real one. What workers, people
and time may do is in `search_workers`, `search_rows` and `search_others`; what the store does in `search_table`; what
must be true everywhere in `search_laws`. Time has no number: a due time is now, or later until time passes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from saga_app.core.decisions import Decision
from saga_app.core.saga import Saga
from saga_app.core.snapshot import Record, Signal, Snapshot
from saga_app.core.status import check_move

NOW = datetime(2030, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(days=1)

Budgets = Mapping[str, int]
Place = tuple[int, str]
"""Which execution, and the path of a record in it."""


@dataclass(frozen=True)
class Scenario:
    """A question that is small enough to be answered completely.

    Attributes:
        sagas: name → saga; the first is started, the others are its children's.
        ends: how the call of a step may end, by its name; `ok error` where nothing is said (see search_calls).
        undoes: how its compensation may; `ok` where nothing is said.
        finds: how its reconcile answers: `true unknown` where nothing is said.
        choices: what a compute may choose, by its name.
        stumbles: whose arguments may not be made, by name: `once` (it may pass), `never`.
        sent: the signals that may come, one after the other: a name, or `path!approved`.
        budgets: how often the environment may still do something.
        verbs: what an operator may press where an execution is stuck or suspended.
    """

    sagas: Mapping[str, Saga[Any]]
    ends: Mapping[str, str] = field(default_factory=dict)
    undoes: Mapping[str, str] = field(default_factory=dict)
    finds: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, str] = field(default_factory=dict)
    stumbles: Mapping[str, str] = field(default_factory=dict)
    sent: tuple[str, ...] = ()
    budgets: Budgets = field(default_factory=dict)
    verbs: str = "resume abandon unwind resolve skip"

    def saga(self, x: Snapshot) -> Saga[Any]:
        """The definition of an execution."""
        return self.sagas[x.saga]


@dataclass(frozen=True, slots=True)
class Hold:
    """A worker that has claimed an execution, or one queued step of it.

    Attributes:
        e: which execution.
        path: of the queued step, or nothing.
        written: what it believes the table to hold.
        doing: the call it is in; None: between two calls.
        fresh: nothing has come since it read the facts.
        young: nothing is written under this claim but what its own transaction wrote.
        lost: it does not know yet that somebody else has it.
    """

    e: int
    path: str
    written: Snapshot
    doing: Decision | None = None
    fresh: bool = True
    young: bool = True
    lost: bool = False


@dataclass(frozen=True, slots=True)
class World:
    """Everything there is.

    Attributes:
        rows: what the tables hold; a child is added when it is born.
        parents: of each execution the record in its parent, or None.
        holds: the workers that hold something.
        orphans: executions whose worker died, or lost its lease, and which nobody has claimed since.
        ghosts: calls in which a worker may still be that has lost its lease; True: of the compensation.
        landed: calls whose effect stands outside, or once stood.
        undone: calls whose compensation has run to its end, or that an operator undid by hand.
        stamped: a signal whose transaction has the row of the first execution locked, and has not committed.
        budgets: what the environment may still do.
    """

    rows: tuple[Snapshot, ...]
    parents: tuple[Place | None, ...] = (None,)
    holds: tuple[Hold, ...] = ()
    orphans: frozenset[int] = frozenset()
    ghosts: frozenset[tuple[int, str, bool]] = frozenset()
    landed: frozenset[Place] = frozenset()
    undone: frozenset[Place] = frozenset()
    stamped: Signal | None = None
    budgets: tuple[tuple[str, int], ...] = ()

    def left(self, what: str) -> int:
        """How often that may still be done."""
        return dict(self.budgets).get(what, 0)

    def spent(self, what: str) -> World:
        """The same after it was done once more."""
        return replace(self, budgets=tuple((name, left - (name == what)) for name, left in self.budgets))

    def but_row(self, e: int, x: Snapshot) -> World:
        """The same with another row."""
        return replace(self, rows=(*self.rows[:e], x, *self.rows[e + 1 :]))

    def holder(self, e: int, path: str = "") -> Hold | None:
        """Who lives and holds it."""
        return next((one for one in self.holds if (one.e, one.path) == (e, path) and not one.lost), None)

    def without(self, hold: Hold) -> World:
        """The same without that worker."""
        return replace(self, holds=tuple(one for one in self.holds if one is not hold))

    def and_hold(self, hold: Hold) -> World:
        """The same with that worker too."""
        return replace(self, holds=tuple(sorted((*self.holds, hold), key=lambda one: (one.e, one.path))))


Move = tuple[str, World]
Moves = Callable[[Scenario, World], Iterator[Move]]


class Broken(AssertionError):
    """A rule does not hold."""


@dataclass
class Found:
    """What a search has found.

    Attributes:
        worlds: every state that can be reached.
        came: of each state the move by which it was first reached, and from which; None for the first.
        inner: from each state to those which workers and time alone lead to.
    """

    worlds: list[World] = field(default_factory=list)
    came: list[tuple[str, int] | None] = field(default_factory=list)
    inner: list[list[int]] = field(default_factory=list)

    def trace(self, at: int) -> list[str]:
        """The moves that led there."""
        moves: list[str] = []
        while (came := self.came[at]) is not None:
            moves.insert(0, came[0])
            at = came[1]
        return moves


class _Pool:
    """One object for all equal pictures, so that two worlds are compared by identity."""

    def __init__(self) -> None:
        self._one: dict[Snapshot, Snapshot] = {}
        self._known: set[int] = set()

    def __call__(self, x: Snapshot) -> Snapshot:
        if id(x) in self._known:
            return x
        bare = plain(x)
        found = self._one.setdefault(bare, bare)
        self._known.add(id(found))
        return found

    def world(self, w: World) -> World:
        holds = tuple(replace(one, written=self(one.written)) for one in w.holds)
        return replace(w, rows=tuple(self(x) for x in w.rows), holds=holds)


def key(w: World) -> tuple[Any, ...]:
    """What makes two pooled worlds one state."""
    holds = tuple((h.e, h.path, id(h.written), h.doing, h.fresh, h.young, h.lost) for h in w.holds)
    rest = (w.parents, w.orphans, w.ghosts, w.landed, w.undone, w.stamped, w.budgets)
    return (*(id(x) for x in w.rows), holds, *rest)


def plain(x: Snapshot) -> Snapshot:
    """The picture without the history that no decision looks at."""
    if all(_is_plain(one) for one in x.records) and not (x.cause or x.resume_count):
        return x
    records = (one if _is_plain(one) else one.but(attempts=(), row_epoch=0, idempotency_key="") for one in x.records)
    return x.but(records=tuple(records), cause="", resume_count=0)


def _is_plain(record: Record) -> bool:
    return not (record.attempts or record.row_epoch or record.idempotency_key)


def first_world(sc: Scenario) -> World:
    """The first saga has just been started."""
    saga = next(iter(sc.sagas.values()))
    row = Snapshot(saga=saga.name, revision=1, fingerprint=saga.fingerprint, due_at=NOW)
    row = row.but(deadline_at=LATER) if saga.timeout else row
    return World((row,), budgets=tuple(sorted(sc.budgets.items())))


def search(sc: Scenario, moves: Moves, outside: Callable[[str], bool], most: int = 200_000) -> Found:
    """Every state, breadth first.

    Args:
        sc: the question.
        moves: what can happen in a state.
        outside: whether a move is made by somebody else than workers and time.
        most: more states than that are too many to ask about.
    """
    pool, found = _Pool(), Found()
    first = pool.world(first_world(sc))
    places = {key(first): 0}
    found.worlds.append(first)
    found.came.append(None)
    todo = deque([0])
    while todo:
        at = todo.popleft()
        found.inner.append([])
        for action, after in _lawful_moves(sc, moves, found, at):
            world = pool.world(after)
            place = places.setdefault(key(world), len(found.worlds))
            if place == len(found.worlds):
                found.worlds.append(world)
                found.came.append((action, at))
                todo.append(place)
                assert place < most, "too many states"
            if not outside(action):
                found.inner[at].append(place)
    return found


def _lawful_moves(sc: Scenario, moves: Moves, found: Found, at: int) -> Iterator[Move]:
    world = found.worlds[at]
    try:
        for action, after in moves(sc, world):
            for old, new in zip(world.rows, after.rows, strict=False):
                check_move(old.status, new.status)
            yield action, after
    except Exception as error:
        error.add_note("\n".join(found.trace(at)))
        raise
