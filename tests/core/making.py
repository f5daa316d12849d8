"""Arguments: small steps, sagas and values to fill them with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from saga_app import DefinitionError, Saga, step
from saga_app.core import registry
from saga_app.core.steps import Step
from tests import strategies


@dataclass
class Values:
    """What one execution has so far, as the executor would hand it in."""

    input: Mapping[str, Any] = field(default_factory=dict)
    outputs: Mapping[str, Any] = field(default_factory=dict)

    items: Mapping[str, Any] = field(default_factory=dict)
    iteration: int = 0

    def output(self, names: tuple[str, ...]) -> Any:
        found = [self.outputs[name] for name in names if name in self.outputs]
        if not found:
            raise KeyError(names)
        return found[-1]

    def item(self, loop: str) -> Any:
        return self.items[loop]


CTX = SimpleNamespace(input=SimpleNamespace(total=3))


def saga(*nodes: Any, **options: Any) -> Saga[Any]:
    with registry.isolate():
        return Saga("s", *nodes, **options)


def made(name: str, *takes: str, optional: tuple[str, ...] = (), **options: Any) -> Step[..., Any]:
    parameters = [*((one, False) for one in takes), *((one, True) for one in optional)]
    return step(name=name, **options)(strategies.function(name, parameters))


def refused(*nodes: Any, **options: Any) -> str:
    with pytest.raises(DefinitionError) as caught:
        saga(*nodes, **options).seal()
    return str(caught.value)


@dataclass
class Order:
    total: int
    sku: str = "A1"
