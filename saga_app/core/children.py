"""Child: another saga as a node, with an execution of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from saga_app.core import registry
from saga_app.core.element import Element
from saga_app.core.errors import DefinitionError, UnknownSaga
from saga_app.core.names import check_saga_name
from saga_app.core.options import check_value, flag
from saga_app.core.starting import Starting, Using

if TYPE_CHECKING:
    from typing import Self

    from saga_app.core.saga import Saga


@dataclass(slots=True)
class _Found:
    """The saga of that name, once it was looked up; shared by all copies of a node."""

    saga: Saga[Any] | None = None


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Child(Element):
    """Runs another saga and provides what it returns. Undoing it is that execution's own unwind."""

    kind: ClassVar[Literal["child"]] = "child"
    gives: ClassVar[bool] = True

    saga: Saga[Any] | str
    bindings: Mapping[str, object]
    compensated: bool
    _found: _Found = field(default_factory=_Found)

    def __init__(self, saga: Saga[Any] | str, /) -> None:
        title = _name_of(saga)
        name = re.sub(r"\W", "_", title)
        self._keep(name=name, provides=name, saga=saga, compensated=True)
        self._keep(bindings=MappingProxyType({}), _found=_Found(None if isinstance(saga, str) else saga))

    @property
    def target(self) -> Saga[Any]:
        """The saga. A name means the highest revision there is when it is first asked for."""
        if self._found.saga is None:
            try:
                self._found.saga = registry.latest(str(self.saga))
            except UnknownSaga as unknown:
                raise DefinitionError(f"Child({self.saga!r}): {unknown}") from None
        return self._found.saga

    def bind(self, **values: object) -> Self:
        """A copy whose execution gets these values as its input: plain values, `ref("path")`, or callables."""
        for name, value in values.items():
            check_value(f"`Child({self.name}).bind({name}=…)`", value)
        return self.but(bindings=MappingProxyType({**self.bindings, **values}))

    def named(self, name: str | None = None, *, provides: str | None = None, compensate: bool = True) -> Self:
        """A copy of another name, or that is not undone in this place."""
        other = super().named(name, provides=provides)
        wanted = flag(compensate, f"Child `{other.name}`: compensate")
        return other.but(compensated=self.compensated and wanted)


def _name_of(saga: object) -> str:
    if isinstance(saga, str):
        return check_saga_name(saga)
    if isinstance(saga, Starting) and not isinstance(saga, Using):
        return str(saga._saga.name)  # noqa: SLF001 - a saga is its own
    raise DefinitionError(f'Child({saga!r}): write the saga, or its name, as in Child("place-order")')
