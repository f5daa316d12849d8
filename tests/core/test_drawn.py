"""The two texts of a graph: all of it is in them, and whatever people write is shown and never read."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_app import If, Pivot, Try
from saga_app.core.drawn import dot, mermaid
from saga_app.core.nodes import Node
from tests.core.graphing import ask, do, graph, trees, undone

HOSTILE = [
    'say "no"', "a]b|c})d", "<script>alert(1)</script>", "&quot; #quot; #35;", "back\\slash \\N \\",
    "two\nlines\r\n\nfour", "    code", "- list", "1. list", "`code` _a_ **b** [x](javascript:y)", "%% comment",
    "%%{init: {}}%%", "end", "subgraph", "style a:#b;", "n1 --> n2", "www.example.com http://x.y",
    "\x00\x1b[31m\ud800", "ünïcode 注文 🎉", "", "\n", "'; DROP",
]  # fmt: skip
DOT_LINE = re.compile(
    r'    *(n\d+ \[[a-z0-9=., "]*(label="(?:[^"\\\n]|\\[\\"n])*")?\];|n\d+ -> n\d+( \[.*\])?;|\}|'
    r'label="(?:[^"\\\n]|\\[\\"n])*";|subgraph cluster_\d+ \{|(node|edge) \[[a-z=, ]+\];)'
)
SAFE = r'"(?:[^\W_]|[ _-]|<br>|#\d+;)+"'
MERMAID_LINE = re.compile(
    rf"    *(n\d+[\[({{/]+{SAFE}[\])}}/]+|n\d+ -?-\.?->?(\|{SAFE}\|)? n\d+|end|subgraph g\d+\[{SAFE}\])"
)


@pytest.mark.parametrize("title", HOSTILE)
def test_titles_are_shown_and_never_read(title: str) -> None:
    """Line by line nothing but the known forms, and in quotes nothing that ends or means something there."""
    drawn = graph(do("a", title=title), If(ask("b", title=title), do("c")), title=title)
    first, *middle, last = dot(drawn).splitlines()
    assert (first, last) == ('digraph "s" {', "}")
    assert [line for line in middle if not DOT_LINE.fullmatch(line)] == []
    first, *rest = mermaid(drawn).splitlines()
    assert first == "flowchart TD"
    assert [line for line in rest if not MERMAID_LINE.fullmatch(line)] == []
    assert not any("\ud800" in text or "\x00" in text for text in (dot(drawn), mermaid(drawn)))


@given(st.text())
def test_no_text_at_all_can_break_out(title: str) -> None:
    test_titles_are_shown_and_never_read(title)


@given(trees())
def test_both_draw_all_of_it(nodes: tuple[Node, ...]) -> None:
    drawn = graph(*nodes)
    for text, arrow, frame in (
        (dot(drawn), r"n\d+ -> n\d+", "subgraph"),
        (mermaid(drawn), r"n\d+ -\.?->?.* n\d+", "subgraph"),
    ):
        assert len(re.findall(rf"^ *{arrow}", text, re.MULTILINE)) == len(drawn["edges"])
        assert len(re.findall(rf"^ *{frame} ", text, re.MULTILINE)) == len(drawn["groups"])
        assert len(re.findall(r"^ *n\d+ ?[\[({]", text, re.MULTILINE)) == len(drawn["nodes"])


def test_mermaid_as_it_reads() -> None:
    drawn = graph(undone(), If(ask("large"), do("call_boss")), Pivot(), do("b"))
    assert (
        mermaid(drawn)
        == """\
flowchart TD
    n0(["s<br>revision 1"])
    n1["a<br>undone by undo"]
    n4{{"Pivot<br>from here on only forward"}}
    n5["b"]
    n6(["end"])
    subgraph g0["if large"]
        n2{"large"}
        subgraph g1["true"]
            n3["call_boss"]
        end
    end
    n0 --> n1
    n1 --> n2
    n2 -->|"true"| n3
    n3 --> n4
    n2 -->|"false"| n4
    n4 --> n5
    n5 --> n6
"""
    )


def test_dot_as_it_reads() -> None:
    assert (
        dot(graph(Try(do("a"), catch=OSError, recover=do("b"))))
        == """\
digraph "s" {
    node [shape=box, fontname=sans];
    edge [fontname=sans];
    n0 [shape=box, style="rounded", label="s\\nrevision 1"];
    n4 [shape=box, style="rounded", label="end"];
    subgraph cluster_0 {
        label="try";
        n1 [shape=box, style="rounded", label="Try"];
        subgraph cluster_1 {
            label="try";
            n2 [shape=box, label="a"];
        }
        subgraph cluster_2 {
            label="recover";
            n3 [shape=box, label="b"];
        }
    }
    n0 -> n1;
    n1 -> n2;
    n1 -> n3 [label="OSError", style=dashed];
    n2 -> n4;
    n3 -> n4;
}
"""
    )
