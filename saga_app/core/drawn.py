"""A graph as text that other programs draw: DOT for Graphviz, and Mermaid.

Titles and labels are what people wrote, and anything may stand in them: every one is escaped, so that it is shown and
never read as part of the drawing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from saga_app.core.readable import readable

Graph: TypeAlias = Mapping[str, Any]

_DOTS = {  # kind → shape and style; the others are boxes
    "start": 'shape=box, style="rounded"',
    "end": 'shape=box, style="rounded"',
    "join": 'shape=circle, width=0.2, fixedsize=true, label=""',
    "parallel": 'shape=box, style="rounded"',
    "branch": "shape=diamond",
    "if": "shape=diamond",
    "while": "shape=diamond",
    "repeat": "shape=diamond",
    "foreach": "shape=hexagon",
    "try": 'shape=box, style="rounded"',
    "child": "shape=box, peripheries=2",
    "wait": "shape=parallelogram",
    "approval": "shape=parallelogram",
    "sleep": "shape=parallelogram",
    "milestone": "shape=octagon",
    "pivot": "shape=octagon",
}
_MERMAID = {  # kind → what stands before and after the label
    "start": ("([", "])"),
    "end": ("([", "])"),
    "join": ("((", "))"),
    "parallel": ("(", ")"),
    "branch": ("{", "}"),
    "if": ("{", "}"),
    "while": ("{", "}"),
    "repeat": ("{", "}"),
    "foreach": ("{{", "}}"),
    "try": ("(", ")"),
    "child": ("[[", "]]"),
    "wait": ("[/", "/]"),
    "approval": ("[/", "/]"),
    "sleep": ("[/", "/]"),
    "milestone": ("{{", "}}"),
    "pivot": ("{{", "}}"),
}
_BY_THE_WAY = frozenset({"caught", "timeout", "rejected"})  # not the way that is hoped for: dashed or dotted
_PLAIN = re.compile(r"[^\W_]|(?<=[^\W_])[_-](?=[^\W_])| ")


def dot(graph: Graph) -> str:
    """The graph in the language of Graphviz."""
    layout = _Layout(graph)
    lines = [
        f"digraph {_dot_text(graph['saga'])} {{",
        "    node [shape=box, fontname=sans];",
        "    edge [fontname=sans];",
        *_dot_inside(layout, None, "    "),
    ]
    for edge in graph["edges"]:
        facts = [f"label={_dot_text(edge['label'])}"] if edge["label"] else []
        facts += ["style=dashed"] if edge["kind"] in _BY_THE_WAY else []
        facts += ["constraint=false"] if edge["kind"] == "turn" else []
        ends = f"{layout.names[edge['from']]} -> {layout.names[edge['to']]}"
        lines.append(f"    {ends} [{', '.join(facts)}];" if facts else f"    {ends};")
    return "\n".join([*lines, "}", ""])


def _dot_inside(layout: _Layout, group: str | None, indent: str) -> Iterator[str]:
    for node in layout.nodes.get(group, ()):
        shape = _DOTS.get(node["kind"], "shape=box")
        label = "" if node["kind"] == "join" else f", label={_dot_text(_label(node))}"
        yield f"{indent}{layout.names[node['id']]} [{shape}{label}];"
    for number, inner in layout.groups.get(group, ()):
        yield f"{indent}subgraph cluster_{number} {{"
        yield f"{indent}    label={_dot_text(inner['label'])};"
        yield from _dot_inside(layout, inner["id"], indent + "    ")
        yield f"{indent}}}"


def mermaid(graph: Graph) -> str:
    """The graph in the language of Mermaid, as Markdown pages show it."""
    layout = _Layout(graph)
    lines = ["flowchart TD", *_mermaid_inside(layout, None, "    ")]
    for edge in graph["edges"]:
        arrow = "-.->" if edge["kind"] in _BY_THE_WAY else "-->"
        label = f'|"{_mermaid_text(edge["label"])}"|' if edge["label"] else ""
        lines.append(f"    {layout.names[edge['from']]} {arrow}{label} {layout.names[edge['to']]}")
    return "\n".join([*lines, ""])


def _mermaid_inside(layout: _Layout, group: str | None, indent: str) -> Iterator[str]:
    for node in layout.nodes.get(group, ()):
        before, after = _MERMAID.get(node["kind"], ("[", "]"))
        yield f'{indent}{layout.names[node["id"]]}{before}"{_mermaid_text(_label(node))}"{after}'
    for number, inner in layout.groups.get(group, ()):
        yield f'{indent}subgraph g{number}["{_mermaid_text(inner["label"])}"]'
        yield from _mermaid_inside(layout, inner["id"], indent + "    ")
        yield f"{indent}end"


class _Layout:
    """What stands in which group, and ids that mean nothing in either language, as names of nodes might."""

    def __init__(self, graph: Graph) -> None:
        self.names = {node["id"]: f"n{number}" for number, node in enumerate(graph["nodes"])}
        self.nodes: dict[str | None, list[Mapping[str, Any]]] = {}
        self.groups: dict[str | None, list[tuple[int, Mapping[str, Any]]]] = {}
        for node in graph["nodes"]:
            self.nodes.setdefault(node["group"], []).append(node)
        for number, group in enumerate(graph["groups"]):
            self.groups.setdefault(group["parent"], []).append((number, group))


def _label(node: Mapping[str, Any]) -> str:
    return "\n".join([node["title"], *node["lines"]])


def _lines(text: str) -> list[str]:
    """Line by line, one space between words: more of them at the start of a line would be Markdown."""
    return [readable(" ".join(line.split())) for line in text.splitlines()]


def _dot_text(text: str) -> str:
    """In quotes. A backslash begins an escape and an ampersand an entity, there too."""
    return '"' + "\\n".join(
        line.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;") for line in _lines(text)
    ) + '"'  # fmt: skip


def _mermaid_text(text: str) -> str:
    """Everything but letters, digits and what joins them as its number: quotes, HTML, Markdown, Mermaid's own words."""
    return "<br>".join("".join(_mermaid_letters(line)) for line in _lines(text)) or " "


def _mermaid_letters(line: str) -> Iterator[str]:
    for place, letter in enumerate(line):
        yield letter if _PLAIN.match(line, place) else f"#{ord(letter)};"
