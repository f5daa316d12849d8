"""What is written on a graph is said in the reader's language, though it is kept in English."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.utils import translation

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
from saga_app.messages import graphs
from tests.core.graphing import ask, do, graph, undone
from tests.doors.brackets import RIGHT_TO_LEFT, in_brackets

EVERYTHING = [
    graph(undone(), do("two", atomic=True, required=False, queue="one"), Pivot(), ask("s")),
    graph(Milestone("s"), Sleep(90).named("one"), Sleep(until=ref("input.two")).named("two")),
    graph(Child("other").named("one"), Child("other").named("two", compensate=False)),
    graph(Wait("one", timeout=5), Wait("two", timeout=7200, on_timeout=[do("s")])),
    graph(Approval("one", permission="shop.may", four_eyes=True), Approval("two", permission="shop.may", timeout=9)),
    graph(Approval("one", permission="shop.may", on_reject=[do("two")], on_timeout=[do("s")], timeout=86_400)),
    graph(Approval("one", permission="shop.may", on_reject="continue")),
    graph(Branch(ask("s"), one=do("one"), two=do("two")), If(ask("other"), do("three"), otherwise=[do("four")])),
    graph(While(ask("s"), do("one")), Repeat(do("two"), until=ask("other"))),
    graph(ForEach("one", ref("input.two"), do("s"), concurrency=2), ForEach("two", ref("input.two"), do("other"))),
    graph(Parallel(one=[do("one")], two=[do("two")]), Try(do("s"), catch=(ValueError,), recover=[do("other")])),
]


THEIR_AUTHORS = {"a", "one", "two", "three", "four", "other", "s", "shop.may", "ValueError", ""}


def test_everything_that_the_core_writes_has_words(tmp_path: Path) -> None:
    """A line or a label that is new in core.graph_labels or core.graph is said in messages.graphs too."""
    with in_brackets(tmp_path), translation.override(RIGHT_TO_LEFT):
        said = {text for drawn in EVERYTHING for text in written(drawn) if not text.startswith("⟦")}
    assert said - THEIR_AUTHORS == set()


def written(drawn: dict[str, Any]) -> Iterator[str]:
    yield from (graphs.title(node["kind"], node["title"]) for node in drawn["nodes"])
    yield from (graphs.line(line) for node in drawn["nodes"] for line in node["lines"])
    yield from (graphs.frame(group["kind"], group["label"]) for group in drawn["groups"])
    yield from (graphs.edge(edge["kind"], edge["label"]) for edge in drawn["edges"])


def test_an_english_page_shows_it_as_it_is_kept() -> None:
    for drawn in EVERYTHING:
        kept = [line for node in drawn["nodes"] for line in node["lines"]]
        assert [graphs.line(line) for line in kept] == kept


@pytest.mark.parametrize(
    ("line", "german"),
    [
        ("undone by refund", "rückgängig durch refund"),
        ("after 30 min: fails", "nach 30 Min.: schlägt fehl"),
        ("for 1.5 h", "für 1,5 Std."),
        ("until order.due", "bis order.due"),
        ("shop.may_refund", "shop.may_refund"),
    ],
)
def test_what_stands_in_a_line_is_kept(line: str, german: str) -> None:
    """Names as they are, lengths of time in words."""
    with translation.override("de"):
        assert graphs.line(line) == german
