"""Random ways through sagas of nested nodes: each state is one that the engine itself can make, with its laws checked.

Where `search` asks everything of a small saga, a stroll asks a little of one of any shape: seed → sagas → moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from saga_app import Saga
from saga_app.core import registry
from saga_app.core.addressing import open_approval
from saga_app.core.nodes import Branch, ForEach, If, Node, Repeat, While, walk
from saga_app.core.snapshot import Record, Signal, Snapshot
from saga_app.core.status import TERMINAL, StepStatus, check_move
from tests.core.search import NOW, Move, Scenario, World, first_world
from tests.core.search_laws import broken, moves
from tests.core.search_others import IN_TIME, TOO_LATE, is_outside
from tests.core.search_table import load, wake
from tests.growing import LEAVES, Grower

ENDS = ["ok", "ok", "ok", "ok late", "ok error", "ok error", "ok timeout", "ok rejected", "error"]
STUMBLES = ["", "", "", "once", "never", "once never"]
MOST_MOVES = 400
BUSY = 60  # moves in which people and misfortunes may have a part; then workers and time are alone


class Family(Grower):
    """Grows a saga and those of its children, two deep."""

    def __init__(self, dice: Random, depth: int, above: Family | None = None) -> None:
        leaves = LEAVES if depth > 0 else tuple(kind for kind in LEAVES if kind != "child")
        super().__init__(dice.choice, above.names if above else None, leaves)
        self.dice, self.depth = dice, depth
        self.sagas: dict[str, Saga[Any]] = above.sagas if above else {}
        nodes = self.tree(depth)
        options = {"on_failure": self.pick(["unwind", "unwind", "hold"]), "timeout": self.pick([None, None, 60])}
        self.saga = Saga(f"s{len(self.sagas)}", *nodes, **options)
        self.sagas[self.saga.name] = self.saga

    def child_saga(self) -> Saga[Any]:
        return Family(self.dice, self.depth - 1, self).saga


def grown(seed: int) -> Scenario:
    """Sagas, how their calls end, and what may happen to them."""
    dice = Random(seed)
    with registry.isolate():
        family = Family(dice, dice.choice([1, 2, 2, 3]))
    nodes = [node for saga in family.sagas.values() for node in walk(saga.nodes)]
    sagas = {family.saga.name: family.saga} | family.sagas  # the first is started
    return Scenario(
        sagas,
        ends={one.name: dice.choice(ENDS) for one in nodes if one.kind == "step"},
        undoes={one.name: dice.choice(["ok", "ok", "ok error", "error"]) for one in nodes if one.kind == "step"},
        choices={one.name: choices for one in nodes if (choices := choices_of(one))},
        stumbles={one.name: dice.choice(STUMBLES) for one in nodes},
        budgets={name: dice.choice([0, 0, 1, 2]) for name in ("crashes", "lapses", "cancels", "suspends", "hurries")}
        | {"presses": 6, "knocks": 9},
    )


def choices_of(node: Node) -> str:
    """What it may choose."""
    match node:
        case Branch():
            return " ".join(node.paths)
        case If() | While() | Repeat():
            return "true false"
        case ForEach():
            return "0 1 2 3"
    return ""


def stroll(seed: int) -> Iterator[tuple[Scenario, World]]:
    """The states on one way, the first included. AssertionError where a law is broken, or it never comes to rest."""
    sc, dice = grown(seed), Random(seed + 1)
    world, came = first_world(sc), []
    yield sc, world
    for number in range(MOST_MOVES):
        found = list(_possible(sc, world, alone=number >= BUSY))
        if not found:
            return
        action, after = dice.choice(found)
        came.append(action)
        for old, new in zip(world.rows, after.rows, strict=False):
            check_move(old.status, new.status)
        rule = broken(sc, after)
        assert not rule, told(seed, sc, rule, came)
        world = after
        yield sc, world
    raise AssertionError(told(seed, sc, "P6: never at rest", came))


def told(seed: int, sc: Scenario, rule: str, came: Sequence[str]) -> str:
    """What went wrong, and the way there."""
    return "\n".join([f"seed {seed}: {rule}", *(f"{saga.name}: {saga.nodes}" for saga in sc.sagas.values()), *came])


def _possible(sc: Scenario, w: World, *, alone: bool) -> Iterator[Move]:
    """Moves, those of workers more often than those of others; to be alone is to be without others."""
    for action, after in moves(sc, w):
        outside = is_outside(action)
        if not (alone and outside):
            yield from [(action, after)] * (1 if outside else 3)
    if w.left("knocks") and w.stamped is None and not alone:
        yield from _knocks(sc, w)


def _knocks(sc: Scenario, w: World) -> Iterator[Move]:
    """Somebody opens a gate that is open, or comes too late."""
    for e, x in enumerate(w.rows):
        if x.status in TERMINAL:
            continue
        for gate in x.records:
            if gate.kind in ("wait", "approval") and gate.status == StepStatus.WAITING:
                late = gate.due_at is not None and gate.due_at <= NOW
                for verdict in _verdicts(x, gate, late=late):
                    yield (
                        f"signal {e} {gate.path} {verdict}",
                        _sent(w.spent("knocks"), e, gate.path, verdict, late=late),
                    )


def _verdicts(x: Snapshot, gate: Record, *, late: bool) -> tuple[str, ...]:
    """What may come. The door takes no second decision: a gate that a resume opens again is asked anew."""
    if gate.kind == "wait" or late:
        return ("",)
    return ("approved", "rejected") if isinstance(open_approval(x, gate.path), Record) else ()


def _sent(w: World, e: int, path: str, verdict: str, *, late: bool) -> World:
    x, moment = w.rows[e], TOO_LATE if late else IN_TIME
    signal = Signal(id=w.left("knocks") + 100, name=path, received_at=moment, payload_text="1", verdict=verdict)
    return wake(w.but_row(e, x.but(signals=(*x.signals, signal), unread=x.unread + 1)), e)


def pictures(w: World) -> Iterator[tuple[int, Snapshot]]:
    """What a worker would read of each execution."""
    for e in range(len(w.rows)):
        yield e, load(w, e)
