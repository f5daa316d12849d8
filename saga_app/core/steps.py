"""@step: a function that a saga calls, with how hard to try it and how to undo it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Generic, Literal, ParamSpec, TypeVar, cast, overload

from saga_app.core.answers import Happened, NotHappened, Unknown
from saga_app.core.backoff import Backoff
from saga_app.core.errors import DefinitionError
from saga_app.core.handlers import COMPENSATE_OPTIONS, Bodies, Handler, make_compensation, make_reconcile
from saga_app.core.names import check_provided, check_step_name
from saga_app.core.options import (
    body_of,
    check_bound,
    flag,
    option_names,
    queue_name,
    refuse_handler_words,
    refuse_unknown,
    step_name,
)
from saga_app.core.policy import Errors, Policy, make_policy
from saga_app.core.refs import Ref, ref
from saga_app.core.seconds import Seconds
from saga_app.core.signatures import Parameter, is_async, parameters_of

__all__ = ["Bodies", "Handler", "Happened", "NotHappened", "Policy", "Ref", "Step", "Unknown", "ref", "step"]

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])

#: What a Step takes over from its function, so that it looks like it to inspect, help() and other decorators.
_CLOTHES = ("__name__", "__qualname__", "__doc__", "__module__", "__code__", "__defaults__", "__kwdefaults__")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Step(Generic[P, R]):
    """A function as a node of a saga. Calling it calls the function and records nothing.

    Immutable but for `bodies`; `.bind` and `.named` give copies that share it. No slots: it wears its function's name.
    """

    bodies: Bodies
    name: str
    provides: str
    policy: Policy
    parameters: tuple[Parameter, ...]
    atomic: bool = False
    using: str | None = None
    required: bool = True
    idempotent: bool = False
    title: str = ""
    bindings: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    compensated: bool = True
    queue: str | None = None
    kind: Literal["step", "compute"] = "step"
    judge: Callable[[Any], str] | None = None
    """Of a step that chooses: from what it returned to what that means; BadChoice when it means nothing."""

    def __post_init__(self) -> None:
        """Look like the function: inspect.iscoroutinefunction and inspect.signature answer as they do for it."""
        function = self.bodies.function
        clothes = {name: getattr(function, name) for name in _CLOTHES if hasattr(function, name)}
        try:
            clothes["__annotations__"] = dict(getattr(function, "__annotations__", {}))
        except NameError:  # Python 3.14: a name that only type checkers import
            clothes["__annotations__"] = {}
        self.__dict__.update(clothes, __wrapped__=function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function."""
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        """Short, for error messages."""
        return f"<{self.kind} {self.name}>"

    @property
    def shown(self) -> str:
        """As error messages call it."""
        return f"{'Compute' if self.pure else 'step'} `{self.name}`"

    @property
    def pure(self) -> bool:
        """Nothing can have happened in the world when it was called."""
        return self.kind == "compute"

    @property
    def function(self) -> Callable[P, R]:
        """The body."""
        return cast("Callable[P, R]", self.bodies.function)

    @property
    def is_async(self) -> bool:
        """The body is a coroutine function."""
        return is_async(self.bodies.function)

    @property
    def compensation(self) -> Handler | None:
        """What undoes it, if anything."""
        return self.bodies.compensation

    @property
    def reconciler(self) -> Handler | None:
        """What finds out whether it happened, if anything."""
        return self.bodies.reconciler

    @overload
    def compensate(self, function: F, /) -> F: ...
    @overload
    def compensate(
        self,
        /,
        *,
        attempts: int = 3,
        backoff: Backoff = ...,
        timeout: Seconds | None = None,
        atomic: bool = False,
        retry_on: Errors = ...,
        give_up_on: Errors = ...,
    ) -> Callable[[F], F]: ...
    def compensate(self, function: Any = None, /, **options: Any) -> Any:
        """Declare what undoes this step: called when a later step fails and this one happened, or may have."""
        where = f"the compensation of step `{self.name}`"
        refuse_unknown(options, COMPENSATE_OPTIONS, where)

        def declare(body: F) -> F:
            handler = make_compensation(body, where, self.policy, **options)
            self._refuse_late(where, self.bodies.compensation)
            self.bodies.compensation = handler
            return body

        return declare if function is None else declare(function)

    def reconcile(self, function: F, /) -> F:
        """Declare what is asked, when a worker died or a timeout hit inside the body, whether it happened."""
        where = f"the reconcile of step `{self.name}`"
        handler = make_reconcile(function, where, self.policy)
        self._refuse_late(where, self.bodies.reconciler)
        self.bodies.reconciler = handler
        return function

    def bind(self, **values: object) -> Step[P, R]:
        """A copy that gets these arguments: plain values, `ref("path")`, or callables filled by the same rule."""
        for name, value in values.items():
            check_bound(name, value, self.parameters, self.name)
        return replace(self, bindings=MappingProxyType({**self.bindings, **values}))

    def named(self, name: str | None = None, *, provides: str | None = None, compensate: bool = True) -> Step[P, R]:
        """A copy of another name (under which its output is visible too), or that is not compensated in this place."""
        if name is not None:
            check_step_name(name)
            provides = provides or name
        where = f"step `{name or self.name}`"
        return replace(
            self,
            name=name or self.name,
            provides=self.provides if provides is None else check_provided(provides, where),
            compensated=self.compensated and flag(compensate, f"{where}: compensate"),
        )

    def _refuse_late(self, where: str, earlier: Handler | None) -> None:
        if self.pure:
            raise DefinitionError(
                f"{where}: {self.shown} does nothing in the world, so there is nothing to undo or to ask about: "
                f"make it a step, with @step above its def"
            )
        if earlier is not None:
            name = getattr(earlier.function, "__name__", "a function")
            raise DefinitionError(f"{where} is `{name}` already: a step has one; put both into one function")
        if self.bodies.sealed_by:
            raise DefinitionError(
                f"{where} comes too late, saga {self.bodies.sealed_by!r} is in use: declare it right below the step"
            )


@overload
def step(
    function: Callable[P, R],
    /,
    *,
    name: str | None = None,
    provides: str | None = None,
    attempts: int = 3,
    backoff: Backoff = ...,
    retry_on: Errors = ...,
    give_up_on: Errors = ...,
    rejected_on: Errors = ...,
    timeout: Seconds | None = 30,
    atomic: bool = False,
    using: str | None = None,
    queue: str | None = None,
    required: bool = True,
    idempotent: bool = False,
    title: str = "",
) -> Step[P, R]: ...
@overload
def step(
    *,
    name: str | None = None,
    provides: str | None = None,
    attempts: int = 3,
    backoff: Backoff = ...,
    retry_on: Errors = ...,
    give_up_on: Errors = ...,
    rejected_on: Errors = ...,
    timeout: Seconds | None = 30,
    atomic: bool = False,
    using: str | None = None,
    queue: str | None = None,
    required: bool = True,
    idempotent: bool = False,
    title: str = "",
) -> Callable[[Callable[P, R]], Step[P, R]]: ...
def step(function: Any = None, /, **options: Any) -> Any:
    """Make a function a step. The outermost decorator, with or without parentheses; seconds or timedelta everywhere."""
    refuse_unknown(options, STEP_OPTIONS, "@step")
    if function is None:
        return lambda body: _make_step(body, **options)
    return _make_step(function, **options)


def _make_step(
    function: Callable[P, R],
    *,
    name: str | None = None,
    provides: str | None = None,
    attempts: int = 3,
    backoff: Backoff = Backoff(),  # noqa: B008 - frozen
    retry_on: Errors = (Exception,),
    give_up_on: Errors = (),
    rejected_on: Errors = (),
    timeout: Seconds | None = 30,
    atomic: bool = False,
    using: str | None = None,
    queue: str | None = None,
    required: bool = True,
    idempotent: bool = False,
    title: str = "",
) -> Step[P, R]:
    name = step_name(function, name)
    where = f"step `{name}`"
    body = body_of(function, where, atomic=atomic)
    parameters = parameters_of(body, where)
    refuse_handler_words(parameters, where)
    if using is not None and not (atomic and using):
        raise DefinitionError(
            f'{where}: using names the database of an atomic step: write atomic=True, using="default"'
        )
    return Step(
        bodies=Bodies(body),
        name=name,
        provides=check_provided(name if provides is None else provides, where),
        policy=make_policy(
            where,
            attempts=attempts,
            backoff=backoff,
            retry_on=retry_on,
            give_up_on=give_up_on,
            rejected_on=rejected_on,
            timeout=timeout,
        ),
        parameters=parameters,
        atomic=atomic,
        using=using,
        queue=queue_name(queue, f"{where}: queue"),
        required=flag(required, f"{where}: required"),
        idempotent=flag(idempotent, f"{where}: idempotent"),
        title=title,
    )


#: What may be written in `@step(...)`.
STEP_OPTIONS = option_names(_make_step)
