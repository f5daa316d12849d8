"""Makes the small sagas that `search` walks through, each with what may happen to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saga_app import Saga, step
from saga_app.core import registry
from saga_app.core.nodes import Node
from tests.core.search import Scenario

FULL = "ok late error timeout rejected"


def made(name: str, *, undo: int = 1, asks: bool = False, atomic_undo: bool = False, **options: Any) -> Any:
    """A step of one attempt, if nothing is said, with a compensation of so many (0: none)."""
    one = step(name=name, **({"attempts": 1} | options))(lambda: None)
    if undo:
        one.compensate(attempts=undo, atomic=atomic_undo)(lambda: None)
    if asks:
        one.reconcile(lambda: None)
    return one


def kid(*nodes: Node, **options: Any) -> Saga[Any]:
    """A saga that is somebody's child."""
    with registry.isolate():
        return Saga("kid", *nodes, **options)


def scenario(
    *nodes: Node,
    kids: tuple[Saga[Any], ...] = (),
    options: Mapping[str, Any] | None = None,
    sent: tuple[str, ...] = (),
    verbs: str = Scenario.verbs,
    choices: Mapping[str, str] | None = None,
    stumbles: Mapping[str, str] | None = None,
    **what: Any,
) -> Scenario:
    """A scenario.

    Args:
        *nodes: of the saga that is started.
        kids: the sagas of its children.
        options: of the saga.
        sent: the signals that may come.
        verbs: what an operator may press.
        choices: what computes choose, by name.
        stumbles: whose arguments may not be made, by name: `once never`.
        **what: how calls end (`a="ok error"`, `undo_a=`, `find_a=`), and budgets (`crashes=1`).
    """
    with registry.isolate():
        saga = Saga("searched", *nodes, **(options or {}))
    words = {name: said for name, said in what.items() if isinstance(said, str)}
    handlers = ("undo_", "find_")
    return Scenario(
        {one.name: one for one in (saga, *kids)},
        ends={name: said for name, said in words.items() if not name.startswith(handlers)},
        undoes={name.removeprefix("undo_"): said for name, said in words.items() if name.startswith("undo_")},
        finds={name.removeprefix("find_"): said for name, said in words.items() if name.startswith("find_")},
        choices=choices or {},
        stumbles=stumbles or {},
        sent=sent,
        verbs=verbs,
        budgets={"signals": len(sent)} | {name: left for name, left in what.items() if name not in words},
    )
