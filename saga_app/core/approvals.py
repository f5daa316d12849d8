"""Approval: a gate that a person opens or closes, who may, and what they are asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from saga_app.core.blocks import block
from saga_app.core.element import Element
from saga_app.core.errors import DefinitionError
from saga_app.core.gates import at_timeout, limit
from saga_app.core.names import check_step_name
from saga_app.core.options import check_value, flag
from saga_app.core.seconds import Seconds
from saga_app.core.steps import Step

if TYPE_CHECKING:
    from saga_app.core.element import Block, Written
    from saga_app.core.gates import OnTimeout

    OnReject: TypeAlias = Literal["fail", "continue"] | Block


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Approval(Element):
    """Rests until somebody who may has approved or rejected. Provides their Decision."""

    kind: ClassVar[Literal["approval"]] = "approval"
    gives: ClassVar[bool] = True

    permission: str | None
    allow: Callable[..., Any] | None
    input: Any
    timeout: float | None
    on_timeout: OnTimeout
    on_reject: OnReject
    four_eyes: bool

    def __init__(
        self,
        name: str,
        /,
        *,
        permission: str | None = None,
        allow: Callable[..., Any] | None = None,
        input: Any = None,
        timeout: Seconds | None = None,
        on_timeout: Literal["fail"] | Written = "fail",
        on_reject: Literal["fail", "continue"] | Written = "fail",
        four_eyes: bool = False,
    ) -> None:
        check_step_name(name, "the name of Approval(…)")
        where = f"Approval({name!r})"
        self._keep(name=name, provides=name)
        self._keep(permission=_permission(permission, where), allow=_allow(allow, where), input=_input(input, where))
        if permission is None and allow is None:
            raise DefinitionError(
                f'{where} can be given by nobody: write permission="shop.approve_order", '
                f"or allow=a function that says who may, as in allow=lambda actor: actor.is_staff"
            )
        self._keep(timeout=limit(timeout, where), on_timeout=at_timeout(on_timeout, timeout, where))
        self._keep(on_reject=_on_reject(on_reject, where), four_eyes=flag(four_eyes, f"{where}: four_eyes"))

    def blocks(self) -> list[tuple[str, Block]]:
        """What is done when its time is up, and when it is rejected."""
        found: list[tuple[str, Block]] = [("timeout", self.on_timeout)] if self.on_timeout != "fail" else []
        if isinstance(self.on_reject, tuple):
            found.append(("reject", self.on_reject))
        return found


def _permission(written: object, where: str) -> str | None:
    if written is None:
        return None
    if not isinstance(written, str) or not all(written.partition(".")) or written.count(".") != 1:
        raise DefinitionError(
            f'{where}: permission is {written!r}: write app.codename, as in permission="shop.approve_order"'
        )
    return written


def _allow(written: Any, where: str) -> Callable[..., Any] | None:
    if written is None:
        return None
    if isinstance(written, type | Step) or not callable(written):
        example = "allow=lambda actor: actor.is_staff"
        raise DefinitionError(f"{where}: allow is {written!r}: write a function that says who may, as in {example}")
    check_value(f"{where}: allow", written)
    checked: Callable[..., Any] = written
    return checked


def _input(written: object, where: str) -> object:
    if written is None or (callable(written) and not isinstance(written, Step)):
        return written
    raise DefinitionError(f"{where}: input is {written!r}: write a dataclass, a form, a serializer class or a callable")


def _on_reject(written: object, where: str) -> OnReject:
    if written == "fail":
        return "fail"
    if written == "continue":
        return "continue"
    if isinstance(written, str):
        raise DefinitionError(
            f'{where}: on_reject is {written!r}: write on_reject="fail", on_reject="continue" or a list of nodes'
        )
    return block(f"{where}: on_reject", written, 'write its nodes, or on_reject="continue"')
