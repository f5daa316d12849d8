"""What to say of a name that is provided where it cannot be seen: too late, beside, on another way, inside a loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from saga_app.core.nodes import Approval, Branch, ForEach, If, Node, Parallel, Try, Wait, blocks
from saga_app.core.providers import inside_loops, last_of, provided_by

#: Of a name: the sentence, or "" where no node provides it elsewhere.
Elsewhere: TypeAlias = Callable[[str], str]


def nowhere(_name: str) -> str:
    """Of any name: nothing provides it elsewhere."""
    return ""


class Row:
    """What the nodes of one row provide, and at which place of it."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._length = len(nodes)
        self._later: dict[str, tuple[int, str]] = {}
        self._inside: dict[str, str] = {}
        for place, node in enumerate(nodes):
            for name, providers in provided_by([node]).items():
                said = f"`{providers[0].name}` provides `{name}` only later; move it before this step"
                self._later[name] = (place, said)
            for loop, inner in inside_loops([node]):
                self._inside |= _inside(loop, inner)

    def at(self, place: int, around: Elsewhere) -> Elsewhere:
        """What to say at that place of the row; `around` says it of what is outside of the row."""

        def say(name: str) -> str:
            position, later = self._later.get(name, (-1, ""))
            return (later if position > place else self._inside.get(name, "")) or around(name)

        return say

    def behind(self, around: Elsewhere) -> Elsewhere:
        """The same at its end."""
        return self.at(self._length, around)


def _inside(loop: ForEach, inner: Iterable[str]) -> Mapping[str, str]:
    said = {
        name: f"`{name}` is there only inside the loop `{loop.name}`; after it, `{loop.provides}` is the list of what "
        f"the last node of the body provides"
        for name in inner
    }
    if not last_of(loop.body):
        said[loop.provides] = (
            f"`{loop.provides}` would be a list of nothing, since the body of the loop `{loop.name}` ends with "
            f"{type(loop.body[-1]).__name__}(…), which provides nothing: put a Compute behind it that provides what is "
            f"wanted of each turn"
        )
    if loop.name != loop.provides:
        said[loop.name] = (
            f"`{loop.name}` is an item, and there only inside the loop of that name; after it, `{loop.provides}` is "
            f"the list of what the last node of the body provides"
        )
    return said


def within(loop: ForEach, around: Elsewhere) -> Elsewhere:
    """What to say in the body of a loop of its results."""
    said = f"`{loop.provides}` is what the turns of the loop `{loop.name}` come to, and there only after the last one"
    return lambda name: said if name == loop.provides else around(name)


def beside(node: Parallel, label: str, around: Elsewhere) -> Elsewhere:
    """What to say in one branch of what the others provide."""
    said = {
        name: f"`{providers[0].name}` provides `{name}` and runs beside it, in the branch `{other}` of Parallel(…): "
        f"move this step behind the Parallel"
        for other, row in node.branches.items()
        if other != label
        for name, providers in provided_by(row).items()
    }
    return lambda name: said.get(name, "") or around(name)


def on_another_way(node: Branch | If | Try | Wait | Approval, label: str, around: Elsewhere) -> Elsewhere:
    """What to say on one way of what another one provides."""
    ways = {other: provided_by(row) for other, row in blocks(node) if other != label}
    if label == "timeout":
        ways[""] = provided_by([node])
    said = {name: only(node, [other]) for other, provided in ways.items() for name in provided}

    def say(name: str) -> str:
        return f"`{name}` cannot be had in this place, because {said[name]}" if name in said else around(name)

    return say


def only(node: Branch | If | Try | Wait | Approval, labels: Sequence[str]) -> str:
    """Why a name may be missing that is provided on these ways alone."""
    match node:
        case Branch():
            ways = " and ".join(f"`{label}`" for label in labels)
            many = len(labels) > 1
            return f"only {'the paths' if many else 'path'} {ways} of `{node.name}` provide{'' if many else 's'} it"
        case If():
            return f"it is provided only where `{node.name}` is {labels[0].title()}"
        case Try():
            return f"only {'what Try(…) tries' if 'body' in labels else 'recover=[…] of Try(…)'} provides it"
    if "" in labels:
        return f"`{node.name}` has nothing where its time is up"
    ways = " or ".join({"timeout": "its time is up", "reject": "it is rejected"}[label] for label in labels)
    return f"it is provided only where `{node.name}` has not opened: where {ways}"
