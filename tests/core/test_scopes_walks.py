"""Scopes against a small interpreter of paths: along any way, what is promised is there, and it is the right one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from saga_app import DefinitionError
from saga_app.core.lookup import Lookup
from saga_app.core.nodes import ForEach, Node, Step, walk
from saga_app.core.providers import check_providers, last_of, readable
from saga_app.core.records import Records
from saga_app.core.scopes import scope_at_end, scopes_of
from tests import strategies
from tests.core.walks import Env, Run


@st.composite
def shared(draw: st.DrawFn) -> tuple[Node, ...]:
    """A tree in which some nodes provide the same name as another, wherever that is allowed."""
    nodes = draw(strategies.trees(depth=2))
    for loop in (one for one in walk(nodes) if isinstance(one, ForEach)):
        rename(loop, draw(st.sampled_from([loop.name, f"{loop.name}_results"])))
    giving = [one for one in walk(nodes) if one.provides and not isinstance(one, ForEach)]
    for one, other in draw(st.lists(st.tuples(*[st.sampled_from(giving)] * 2), max_size=6)) if giving else []:
        before = other.provides
        rename(other, one.provides)
        try:
            check_providers("saga", nodes)
        except DefinitionError:
            rename(other, before)
    return nodes


def rename(node: Any, provides: str) -> None:
    """Nodes are values; these belong to nobody yet."""
    object.__setattr__(node, "provides", provides)


@given(shared(), st.data())
def test_what_is_promised_is_there(nodes: tuple[Node, ...], data: st.DataObject) -> None:
    """At each call of any run: a sure name has a value, each name means the value it should, and none is kept back."""
    run = Run(data.draw)
    end = run.begin(nodes)
    scopes = scopes_of(nodes)
    lookup = Lookup(readable(nodes).homes, lambda record: record.path in run.over)
    for visit in run.visits:
        scope = scopes[visit.name]
        assert scope.items == visit.items
        assert scope.turns == ("[" in visit.path)
        agrees(scope, visit.env, lookup, Records(run.records[: visit.known]), visit.path, useless(nodes))
    if end is not None:
        agrees(scope_at_end(nodes), end, lookup, Records(run.records), "", useless(nodes))


@given(shared(), st.data())
def test_a_handler_sees_what_its_call_saw(nodes: tuple[Node, ...], data: st.DataObject) -> None:
    """However much has run since: what began later is not seen, in whatever turn it was."""
    run = Run(data.draw)
    run.begin(nodes)
    scopes, records = scopes_of(nodes), Records(run.records)
    lookup = Lookup(readable(nodes).homes, lambda record: record.path in run.over)
    for visit in run.visits:
        agrees(scopes[visit.name], visit.env, lookup, records, visit.path, useless(nodes))


def agrees(scope: Any, env: Env, lookup: Lookup, records: Records, path: str, nothing: set[str]) -> None:
    for name, providers in scope.outputs.items():
        found = lookup.latest(records, providers, path)
        assert (found.path if found else None) == env.get(name), name
        assert name in env or name in scope.maybe, f"{name} is promised, and not there"
    assert env.keys() - nothing <= scope.outputs.keys(), "something is there and cannot be seen"


def useless(nodes: tuple[Node, ...]) -> set[str]:
    """Loops whose turns come to nothing."""
    return {one.provides for one in walk(nodes) if isinstance(one, ForEach) and not last_of(one.body)}


@given(shared())
def test_every_name_is_seen_or_spoken_of(nodes: tuple[Node, ...]) -> None:
    """At each call, a name that any other node provides is there, or there is something to say of it."""
    provided = {one.provides for one in walk(nodes) if one.provides}
    for name, scope in scopes_of(nodes).items():
        own = {one.provides for one in walk(nodes) if one.name == name}
        inner = {one.provides for node in walk(nodes) if node.name == name for one in within(node)}
        for each in provided - own - inner:
            assert each in scope.outputs or each in scope.items or scope.absent(each), (name, each)


def within(node: Node) -> Iterator[Node]:
    return iter(()) if isinstance(node, Step) else (one for _, row in node.blocks() for one in walk(row))
