"""The graph of a saga: every node once, everything reached from the start and leading to the end."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given

from saga_app import (
    Approval,
    Branch,
    Child,
    ForEach,
    If,
    Milestone,
    Parallel,
    Pivot,
    Repeat,
    Sleep,
    Try,
    Wait,
    While,
    ref,
)
from saga_app.core.graph import END, START
from saga_app.core.nodes import Node, walk
from tests.core.graphing import ask, do, graph, trees, undone
from tests.strategies import function


@given(trees())
def test_every_node_is_drawn_once_and_nothing_else(nodes: tuple[Node, ...]) -> None:
    drawn = graph(*nodes)
    unnamed = {"pivot", "parallel", "try"}
    expected = Counter((one.kind, "" if one.kind in unnamed else one.name) for one in walk(nodes))
    added = {"start", "end", "join"}
    assert Counter((one["kind"], one["name"]) for one in drawn["nodes"] if one["kind"] not in added) == expected
    kinds = Counter(one["kind"] for one in drawn["nodes"])
    assert (kinds["start"], kinds["end"], kinds["join"]) == (1, 1, kinds["parallel"])
    ids = [one["id"] for one in drawn["nodes"]]
    assert len(set(ids)) == len(ids)
    told = [tuple(edge.values()) for edge in drawn["edges"]]
    assert len(set(told)) == len(told)


@given(trees())
def test_all_is_reached_and_leads_to_the_end(nodes: tuple[Node, ...]) -> None:
    drawn = graph(*nodes)
    ids = {one["id"] for one in drawn["nodes"]}
    assert reached(drawn, START, "from", "to") == ids
    assert reached(drawn, END, "to", "from") == ids
    assert [edge for edge in drawn["edges"] if edge["to"] == START or edge["from"] == END] == []


def reached(drawn: dict[str, Any], first: str, source: str, target: str) -> set[str]:
    ways: dict[str, list[str]] = {}
    for edge in drawn["edges"]:
        ways.setdefault(edge[source], []).append(edge[target])
    seen, left = {first}, [first]
    while left:
        new = [one for one in ways.get(left.pop(), []) if one not in seen]
        seen.update(new)
        left += new
    return seen


@given(trees())
def test_without_the_turns_of_loops_it_has_no_circle(nodes: tuple[Node, ...]) -> None:
    drawn = graph(*nodes)
    ahead = {**drawn, "edges": [edge for edge in drawn["edges"] if edge["kind"] != "turn"]}
    for edge in ahead["edges"]:
        assert edge["from"] not in reached(ahead, edge["to"], "from", "to")


@given(trees())
def test_groups_stand_in_groups_that_were_named_before(nodes: tuple[Node, ...]) -> None:
    drawn = graph(*nodes)
    known: set[Any] = {None}
    for group in drawn["groups"]:
        assert group["parent"] in known
        assert group["id"] not in known
        known.add(group["id"])
    assert {one["group"] for one in drawn["nodes"]} <= known
    used = {one["group"] for one in drawn["nodes"]} | {group["parent"] for group in drawn["groups"]}
    assert known <= used | {None}, "no group is empty"


@given(trees())
def test_it_is_plain_data_and_always_the_same(nodes: tuple[Node, ...]) -> None:
    drawn = graph(*nodes)
    assert json.loads(json.dumps(drawn)) == drawn == graph(*nodes)


def edges(drawn: dict[str, Any]) -> list[str]:
    """Each as `from -> to`, with its kind where that is not next, and its label."""
    short = {START: "start", END: "end"}
    found = []
    for edge in drawn["edges"]:
        ends = f"{short.get(edge['from'], edge['from'])} -> {short.get(edge['to'], edge['to'])}"
        kind = "" if edge["kind"] == "next" else f" {edge['kind']}"
        found.append(ends + kind + (f": {edge['label']}" if edge["label"] else ""))
    return found


# The shapes, one by one


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        (lambda: [do("a"), Pivot(), do("b")], ["start -> a", "a -> __pivot_1__", "__pivot_1__ -> b", "b -> end"]),
        (
            lambda: [Branch(ask("by"), card=do("a"), bill=[do("b"), do("c")], default=[])],
            ["start -> by", "by -> a choice: card", "by -> b choice: bill", "b -> c", "a -> end", "c -> end",
             "by -> end choice: default"],
        ),
        (
            lambda: [If(ask("large"), do("a"))],
            ["start -> large", "large -> a choice: true", "a -> end", "large -> end choice: false"],
        ),
        (
            lambda: [While(ask("more"), If(ask("odd"), do("a")))],
            ["start -> more", "more -> odd choice: true", "odd -> a choice: true", "a -> more turn",
             "odd -> more turn: false", "more -> end choice: false"],
        ),
        (
            lambda: [Repeat(Repeat(do("a"), until=ask("inner")), until=ask("outer"))],
            ["start -> a", "a -> inner", "inner -> a turn: false", "inner -> outer choice: true",
             "outer -> a turn: false", "outer -> end choice: true"],
        ),
        (
            lambda: [ForEach("line", ref("input.lines"), do("a"), do("b"))],
            ["start -> line", "line -> a: each", "a -> b", "b -> line turn", "line -> end: done"],
        ),
        (
            lambda: [Parallel(do("a"), other=[do("b"), do("c")])],
            ["start -> __parallel_1__", "__parallel_1__ -> a branch: a", "__parallel_1__ -> b branch: other", "b -> c",
             "a -> __join_1__", "c -> __join_1__", "__join_1__ -> end"],
        ),
        (
            lambda: [Try(do("a"), catch=(ValueError, OSError), recover=[do("b")])],
            ["start -> __try_1__", "__try_1__ -> a", "__try_1__ -> b caught: ValueError, OSError", "a -> end",
             "b -> end"],
        ),
        (lambda: [do("a"), Wait("paid", timeout=60)], ["start -> a", "a -> paid", "paid -> end"]),
        (
            lambda: [do("a"), Wait("paid", timeout=90, on_timeout=[do("b")])],
            ["start -> a", "a -> paid", "paid -> b timeout: after 90 s", "paid -> end", "b -> end"],
        ),
        (
            lambda: [do("a"), Approval("boss", permission="shop.x", on_reject="continue")],
            ["start -> a", "a -> boss", "boss -> end: approved", "boss -> end rejected: rejected"],
        ),
        (
            lambda: [Approval("boss", permission="shop.x", on_reject=[do("a")], timeout=7200, on_timeout=[do("b")])],
            ["start -> boss", "boss -> b timeout: after 2 h", "boss -> a rejected: rejected", "boss -> end: approved",
             "b -> end", "a -> end"],
        ),
    ],
    ids=lambda one: "" if callable(one) else one[-2],
)  # fmt: skip
def test_edges(nodes: Callable[[], list[Node]], expected: list[str]) -> None:
    assert edges(graph(*nodes())) == expected


def test_nodes_nest_in_groups() -> None:
    drawn = graph(do("a"), While(ask("more"), Parallel(do("b"), c=[do("d")])))
    groups = {one["id"]: one for one in drawn["groups"]}

    def around(name: str) -> list[str]:
        group = next(one["group"] for one in drawn["nodes"] if one["id"] == name)
        found = []
        while group is not None:
            found.append(groups[group]["label"])
            group = groups[group]["parent"]
        return found

    assert around("a") == []
    assert around("more") == ["while more"]
    assert around("__parallel_1__") == around("__join_1__") == ["in parallel", "while more"]
    assert around("d") == ["c", "in parallel", "while more"]


def lines(node: Any) -> list[str]:
    return next(one["lines"] for one in graph(do("first"), node)["nodes"] if one["id"] not in (START, END, "first"))


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (lambda: do("a"), []),
        (lambda: do("a", atomic=True, required=False, queue="mail"), ["atomic", "optional", "queue mail"]),
        (undone, ["undone by undo"]),
        (lambda: undone().named(compensate=False), []),
        (lambda: ask("a"), ["compute"]),
        (lambda: While(ask("a"), do("b"), max_iterations=7), ["at most 7 turns"]),
        (lambda: ForEach("a", ref("input.lines"), do("b")), ["one after the other"]),
        (lambda: ForEach("a", ref("input.lines"), do("b"), concurrency=4), ["4 at a time"]),
        (lambda: Child("other"), ["saga other"]),
        (lambda: Child("other").named("a", compensate=False), ["saga other", "not undone"]),
        (lambda: Wait("paid").named("a"), ["signal paid"]),
        (lambda: Wait("paid", timeout=172_800), ["after 2 d: fails"]),
        (
            lambda: Approval("a", permission="shop.x", four_eyes=True, timeout=1.5),
            ["shop.x", "four eyes", "rejected: fails", "after 1.5 s: fails"],
        ),
        (lambda: Approval("a", allow=lambda actor: True, on_reject="continue"), []),
        (lambda: Sleep(3600), ["for 1 h"]),
        (lambda: Sleep(ref("input.pause")), ["for input.pause"]),
        (lambda: Sleep(lambda: 5), ["for as long as computed"]),
        (lambda: Sleep(until=datetime(2024, 5, 1, 12, tzinfo=UTC)), ["until 2024-05-01 12:00:00+00:00"]),
        (lambda: Sleep(until=function("monday", [])), ["until monday"]),
        (lambda: Milestone("a"), ["an unwind stops here"]),
        (Pivot, ["from here on only forward"]),
    ],
)
def test_what_is_written_on_a_node(node: Callable[[], Node], expected: list[str]) -> None:
    assert lines(node()) == expected


def test_what_programs_ask_of_a_node() -> None:
    drawn = graph(undone(), Child("other"), do("b", queue="mail", required=False, atomic=True))
    facts = [
        [one[name] for name in ("compensated", "child", "queue", "optional", "atomic")] for one in drawn["nodes"][1:-1]
    ]
    assert facts == [
        [True, "", "", False, False],
        [True, "other", "", False, False],
        [False, "", "mail", True, True],
    ]  # fmt: skip


def test_titles_win_over_names() -> None:
    drawn = graph(do("a", title="Take the money"), If(ask("b", title="Large?"), do("c")), title="An order", revision=3)
    titles = {one["id"]: one["title"] for one in drawn["nodes"]}
    assert (titles["a"], titles["b"], titles["c"]) == ("Take the money", "Large?", "c")
    assert (titles[START], drawn["nodes"][0]["lines"]) == ("An order", ["revision 3"])
    assert drawn["groups"][0]["label"] == "if Large?"
