"""Scopes: what a call can see by name from its place in the tree, for sure or maybe, and what it cannot and why.

A name exists behind the node that provides it: always, if every way there provides it; else maybe. The walk goes along
the ways a run can take, with a View of the names that exist; where ways meet again, their views are merged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from saga_app.core.elsewhere import Elsewhere, Row, beside, nowhere, on_another_way, only, within
from saga_app.core.nodes import (
    Approval,
    Branch,
    ForEach,
    If,
    Node,
    Parallel,
    Repeat,
    Step,
    Try,
    Wait,
    While,
)
from saga_app.core.planning import Scope
from saga_app.core.providers import last_of, provided_by


@dataclass(frozen=True, slots=True)
class Seen:
    """A name that exists: the nodes it may come from, and why it may be missing; "" where it is always there."""

    providers: tuple[str, ...]
    why: str = ""


View: TypeAlias = Mapping[str, Seen]


def scopes_of(nodes: Sequence[Node]) -> dict[str, Scope]:
    """Name of a node → what its call can see."""
    walk = _Walk({})
    walk.row(nodes, _Here({}))
    return walk.scopes


def scope_at_end(nodes: Sequence[Node]) -> Scope:
    """What `output=` can see."""
    end = _Walk({}).row(nodes, _Here({}))
    return _scope(_Here(end, Row(nodes).behind(nowhere)))


@dataclass(frozen=True, slots=True)
class _Here:
    """A place: the names that exist, what to say of those that do not, and the loops around it."""

    view: View
    elsewhere: Elsewhere = nowhere
    items: tuple[str, ...] = ()
    turns: bool = False

    def but(self, **changes: Any) -> _Here:
        return replace(self, **changes)


def _scope(here: _Here) -> Scope:
    return Scope(
        outputs={name: seen.providers for name, seen in here.view.items()},
        maybe={name: seen.why for name, seen in here.view.items() if seen.why},
        absent=here.elsewhere,
        items=here.items,
        turns=here.turns,
    )


@dataclass(frozen=True, slots=True)
class _Walk:
    """Notes the scope of every call it comes to. Each method gives the view behind what it went through."""

    scopes: dict[str, Scope]

    def row(self, nodes: Sequence[Node], here: _Here) -> View:
        """One after the other."""
        view, row = here.view, Row(nodes)
        for place, node in enumerate(nodes):
            view = self.node(node, here.but(view=view, elsewhere=row.at(place, here.elsewhere)))
        return view

    def node(self, node: Node, here: _Here) -> View:
        """One node."""
        match node:
            case Branch() | If():
                self._note(node, here)
                return self._choice(node, here)
            case Try():
                return self._try(node, here)
            case Parallel():
                return self._parallel(node, here)
            case While():
                return self._while(node, here)
            case Repeat():
                return self._repeat(node, here)
            case ForEach():
                return self._for_each(node, here)
            case Wait() | Approval():
                self._note(node, here)
                return self._gate(node, here)
        self._note(node, here)
        missing = "its step is required=False" if isinstance(node, Step) and not node.required else ""
        return _with(here.view, node, missing) if node.provides else here.view

    def _note(self, node: Node, here: _Here) -> None:
        self.scopes[node.name] = _scope(here)

    def _choice(self, node: Branch | If, here: _Here) -> View:
        ways = {
            label: self.row(row, here.but(elsewhere=on_another_way(node, label, here.elsewhere)))
            for label, row in node.paths.items()
        }
        return _merged(here.view, ways, lambda labels: only(node, labels))

    def _try(self, node: Try, here: _Here) -> View:
        body = self.row(node.body, here.but(elsewhere=on_another_way(node, "body", here.elsewhere)))
        broken = _as_maybe(here.view, node.body, "what provides it may have failed, or never been reached")
        recover = self.row(node.recover, here.but(view=broken))
        return _merged(here.view, {"body": body, "recover": recover}, lambda labels: only(node, labels))

    def _parallel(self, node: Parallel, here: _Here) -> View:
        ends = [self._branch(node, label, here) for label in node.branches]
        found = dict(here.view)
        for row, end in zip(node.branches.values(), ends, strict=True):
            found |= {name: end[name] for name in provided_by(row)}
        return found

    def _branch(self, node: Parallel, label: str, here: _Here) -> View:
        """A branch sees nothing of those beside it, not even what they did in an earlier turn of a loop around."""
        others = {name for other, row in node.branches.items() if other != label for name in provided_by(row)}
        view = {name: seen for name, seen in here.view.items() if name not in others}
        return self.row(node.branches[label], here.but(view=view, elsewhere=beside(node, label, here.elsewhere)))

    def _while(self, node: While, here: _Here) -> View:
        turn = self._turn(node, here)
        self._note(node, turn)
        self.row(node.body, turn)
        return _as_maybe(here.view, node.body, f"the loop `{node.name}` may have no turn at all")

    def _repeat(self, node: Repeat, here: _Here) -> View:
        turn = self._turn(node, here)
        end = self.row(node.body, turn)
        self._note(node, turn.but(view=end, elsewhere=Row(node.body).behind(here.elsewhere)))
        return end

    def _turn(self, node: While | Repeat, here: _Here) -> _Here:
        """Within a turn, what the one before provided is there too."""
        earlier = _as_maybe(here.view, node.body, f"the first turn of `{node.name}` has nothing of it yet")
        return here.but(view=earlier, turns=True)

    def _for_each(self, node: ForEach, here: _Here) -> View:
        self._note(node, here)
        view = {name: seen for name, seen in here.view.items() if name != node.name}  # in there, it is the item
        around = within(node, here.elsewhere)
        self.row(node.body, here.but(view=view, elsewhere=around, items=(node.name, *here.items), turns=True))
        return _with(here.view, node) if last_of(node.body) else here.view

    def _gate(self, node: Wait | Approval, here: _Here) -> View:
        """Opened, it provides; where its time was up, or it was rejected, its block stands in for it."""
        opened = _with(here.view, node)
        ways = {"": opened}
        for label, row in node.blocks():
            view = opened if label == "reject" else here.view
            ways[label] = self.row(row, here.but(view=view, elsewhere=on_another_way(node, label, here.elsewhere)))
        return _merged(here.view, ways, lambda labels: only(node, labels))


def _with(view: View, node: Node, why: str = "") -> View:
    earlier = view[node.provides].providers if node.provides in view else ()
    providers = earlier if node.name in earlier else (*earlier, node.name)
    return {**view, node.provides: Seen(providers, why)}


def _as_maybe(view: View, nodes: Iterable[Node], why: str) -> View:
    """The view, and what these nodes may have provided."""
    found = dict(view)
    for name, providers in provided_by(nodes).items():
        earlier = found.get(name, Seen((), why))
        more = tuple(one.name for one in providers if one.name not in earlier.providers)
        found[name] = Seen((*earlier.providers, *more), earlier.why and why)
    return found


def _merged(before: View, ways: Mapping[str, View], only_there: Callable[[list[str]], str]) -> View:
    """Where ways meet again: a name is sure if it is on each of them."""
    found = dict(before)
    for name in dict.fromkeys(name for way in ways.values() for name in way):
        seen = [way[name] for way in ways.values() if name in way]
        sure = [label for label, way in ways.items() if name in way and not way[name].why]
        providers = tuple(dict.fromkeys(one for each in seen for one in each.providers))
        why = "" if len(sure) == len(ways) else only_there(sure) if sure else seen[0].why
        found[name] = Seen(providers, why)
    return found
