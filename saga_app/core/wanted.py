"""What is wanted at each node: the parameters of its function, the fields of its child's input, how long it sleeps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from saga_app.core.binding import LEFT_OUT
from saga_app.core.errors import DefinitionError
from saga_app.core.names import nearest
from saga_app.core.nodes import Child, Node, Sleep, called, walk
from saga_app.core.planning import Site
from saga_app.core.signatures import Parameter, hints_of


@dataclass(frozen=True, slots=True)
class Wanted:
    """Arguments that have to be made for one node, under its name.

    Attributes:
        name: the node's.
        title: the node in a sentence.
        site: where it stands, for errors.
        parameters: what is wanted.
        bindings: what was bound to them.
        hints: parameter → the types it declares.
        function: what is called; None of a child and a sleep.
    """

    name: str
    title: str
    site: Site
    parameters: Sequence[Parameter]
    bindings: Mapping[str, object]
    hints: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    function: Callable[..., Any] | None = None


def wanted(where: str, nodes: Iterable[Node]) -> Iterator[Wanted]:
    """What is wanted in a saga, in the order in which it is written."""
    for node in walk(nodes):
        step = called(node)
        if step is not None:
            hints = {name: (hint,) for name, hint in hints_of(step.function, where).items() if hint is not Any}
            site = Site(f"{where}, {node.shown}")
            yield Wanted(node.name, node.shown, site, step.parameters, step.bindings, hints, step.function)
        elif isinstance(node, Child):
            yield _of_child(node, where)
        elif isinstance(node, Sleep):
            yield _of_sleep(node, where)


def _of_child(node: Child, where: str) -> Wanted:
    target, fields = node.target, node.target.input_names
    for name in node.bindings:
        if name not in fields:
            raise DefinitionError(
                f"{where}, {node.shown}: `.bind({name}=…)`: the input of saga {target.name!r} has no `{name}`. "
                f"{nearest(name, fields)}"
            )
    site = Site(
        f"{where}, {node.shown}",
        what=f"the input of saga {target.name!r}, its field",
        default=f"bind a function to it whose parameter has a default, or give the field one in saga {target.name!r}",
    )
    parameters = [Parameter(name) if required else Parameter(name, LEFT_OUT) for name, required in fields.items()]
    return Wanted(node.name, node.shown, site, parameters, node.bindings, target.input_hints)


def _of_sleep(node: Sleep, where: str) -> Wanted:
    site = Site(
        f"{where}, {node.shown}", default="write a function whose parameter has a default, as in lambda pause=60: pause"
    )
    return Wanted(node.name, node.shown, site, [Parameter(name) for name in node.bindings], node.bindings)
