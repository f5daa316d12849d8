"""Calls user code: fills its arguments, bounds it, and says how it ended."""

from __future__ import annotations

import inspect
from collections import ChainMap
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from saga_app import clock, codec
from saga_app.contexts import Site, context, key_of
from saga_app.core.answers import Happened, NotHappened
from saga_app.core.arranging import Call
from saga_app.core.binding import CallPlan, fill
from saga_app.core.context import Context
from saga_app.core.errors import BadChoice, LeaseLost, StepInterrupted, StepTimeout, UnsupportedValue
from saga_app.core.failures import ErrorInfo, describe
from saga_app.core.keys import FORWARD
from saga_app.core.nodes import Child, Sleep
from saga_app.core.outcomes import Direction, How, Outcome, classify, delay_of
from saga_app.core.policy import Policy
from saga_app.core.saga import Saga
from saga_app.core.snapshot import ELSEWHERE, Record
from saga_app.core.steps import Step
from saga_app.store.leases import Lease
from saga_app.store.transactions import DatabaseFault, contained
from saga_app.timeouts import LONGEST, NEVER, Bound, bounded, clean_connections
from saga_app.values import Values

T = TypeVar("T")
Called = Step[..., Any] | Sleep | Child


@dataclass(slots=True)
class Caller:
    """Calls the functions of one saga for one claim.

    Attributes:
        saga: the definition.
        claim: the right to call.
        values: what the execution has so far.
    """

    saga: Saga[Any]
    claim: Lease
    values: Values

    def prepare(self, node: Called, path: str) -> Call:
        """What the intent of a first attempt stores. Raises whatever filling or encoding the arguments raises."""
        arguments = self.arguments(node, path)
        return Call(codec.encode(arguments), self._key(path, FORWARD))

    def arguments(self, node: Called, path: str) -> dict[str, Any]:
        """The arguments of a call, a gate or a child, made at this moment."""
        plan = self.saga.call(node)
        context = self._context(self._timed(node), path, None, Direction.FORWARD) if plan.wants_context else None
        arguments = fill(plan, self.values.at(path), ctx=context)
        arguments.pop("ctx", None)
        return arguments

    def is_inert(self, node: Called, path: str) -> bool:
        """Whether preparing its first attempt runs no code of the project and reads no row of it."""
        plan = self.saga.call(node)
        return self.values.at(path).inert(plan)

    def output_text(self) -> str | None:
        """What the execution returns, encoded. Raises whatever reading or encoding it raises."""
        plan = self.saga.output_call
        if plan is None:
            return None
        context = self._context(None, "", None, Direction.FORWARD)
        return codec.encode(fill(plan, self.values.at(""), ctx=context)["value"], path="output")

    def forward(self, step: Step[..., Any], path: str) -> Outcome:
        """Call the body of an external step whose intent is written."""
        record = self.values.facts.known(path)
        return self._attempt(step, record, Direction.FORWARD, step.policy, record.attempt, self.body(step, path))

    def compensation(self, step: Step[..., Any], path: str) -> Outcome:
        """Call an external compensation whose intent is written."""
        record = self.values.facts.known(path)
        policy = step.compensation.policy if step.compensation else step.policy
        attempt = record.compensation_attempt
        return self._attempt(step, record, Direction.COMPENSATE, policy, attempt, self.undo(step, path))

    def reconcile(self, step: Step[..., Any], path: str) -> Outcome:
        """Ask whether the last attempt happened. An answer that cannot be had is no answer: unknown."""
        record, handler = self.values.facts.known(path), step.reconciler
        assert handler is not None  # noqa: S101 - decided only where there is one
        plan = self.saga.reconcile_call(step)
        ended = partial(Outcome, path=path, direction=Direction.RECONCILE)
        if self.claim.lapsed:
            raise LeaseLost("the lease was over before reconcile could be asked")
        try:
            answer = self._call(handler.function, self._given(step, record, plan, Direction.RECONCILE), handler.policy)
            text = codec.encode(answer.value, path=step.provides) if isinstance(answer, Happened) else None
        except StepInterrupted as error:
            raise LeaseLost("lost while reconcile ran") from error
        except BaseException as error:  # noqa: BLE001 - a reconcile that fails has not answered
            return ended(how=How.UNKNOWN, at=self.claim.moment(), error=describe(error))
        if text is not None:
            return ended(how=How.HAPPENED, at=self.claim.moment(), output_text=text)
        how = How.NOT_HAPPENED if isinstance(answer, NotHappened) else How.UNKNOWN
        return ended(how=how, at=self.claim.moment(), retry=how is How.NOT_HAPPENED)

    def body(self, step: Step[..., Any], path: str) -> Callable[[], tuple[Callable[..., Any], dict[str, Any]]]:
        """The forward function and how to make its arguments, from those stored with its intent."""

        def make() -> tuple[Callable[..., Any], dict[str, Any]]:
            record = self.values.facts.known(path)
            arguments = dict(self.values.arguments(record))
            if "ctx" in self.saga.call(step).sources:
                arguments["ctx"] = self._context(step, path, record, Direction.FORWARD)
            return step.function, arguments

        return make

    def undo(self, step: Step[..., Any], path: str) -> Callable[[], tuple[Callable[..., Any], dict[str, Any]]]:
        """The compensation and how to make its arguments."""

        def make() -> tuple[Callable[..., Any], dict[str, Any]]:
            handler, record = step.compensation, self.values.facts.known(path)
            assert handler is not None  # noqa: S101 - decided only where there is one
            plan = self.saga.compensation_call(step)
            return handler.function, self._given(step, record, plan, Direction.COMPENSATE)

        return make

    def _attempt(
        self,
        step: Step[..., Any],
        record: Record,
        direction: Direction,
        policy: Policy,
        attempt: int,
        make: Callable[[], tuple[Callable[..., Any], dict[str, Any]]],
    ) -> Outcome:
        try:
            plain = direction is Direction.FORWARD and _is_inert(record)  # a handler may read other values too
            function, arguments = make() if plain else self._call(make, {}, policy)
        except StepInterrupted as error:
            raise LeaseLost("lost while the arguments were made") from error
        except BaseException as error:  # noqa: BLE001 - whatever it is, the body has not been called
            return self.not_called(record.path, direction, error, policy, attempt)
        if self.claim.lapsed:
            raise LeaseLost("the lease was over before the body could be called")
        try:
            value = self._call(function, arguments, policy)
        except StepInterrupted as error:
            raise LeaseLost("lost while the body ran") from error
        except BaseException as error:  # noqa: BLE001 - SystemExit and KeyboardInterrupt are failed attempts too
            how, retry = classify(policy, error)
            return self.failed(record.path, direction, error, how, policy if retry else None, attempt)
        return self.returned(step, record.path, direction, value)

    def prepared(self, make: Callable[[], T], path: str, policy: Policy, attempt: int) -> T | Outcome:
        """What a call begins with, where making that runs code of the project; what it raises is an outcome."""
        try:
            return self._call(make, {}, policy)  # type: ignore[no-any-return]
        except StepInterrupted as error:
            raise LeaseLost("lost while the arguments were made") from error
        except BaseException as error:  # noqa: BLE001 - bound callables and dataclasses may raise anything
            return self.not_called(path, Direction.FORWARD, error, policy, attempt)

    def not_called(
        self, path: str, direction: Direction, error: BaseException, policy: Policy, attempt: int
    ) -> Outcome:
        """The outcome of a call whose arguments could not be made. Only what may pass is worth another attempt."""
        passes = isinstance(error, (*DatabaseFault, StepTimeout))
        how = How.ROLLED_BACK if passes else How.NOT_CALLED
        return self.failed(path, direction, error, how, policy if passes else None, attempt)

    def returned(self, step: Step[..., Any], path: str, direction: Direction, value: Any) -> Outcome:
        """The outcome of a call that returned. What a compensation returns is not kept."""
        ended = partial(Outcome, path=path, direction=direction, at=self.claim.moment())
        if direction is Direction.COMPENSATE:
            return ended(how=How.RETURNED)
        try:
            choice = step.judge(value) if step.judge else ""
            return ended(how=How.RETURNED, output_text=codec.encode(value, path=step.provides), choice=choice)
        except (UnsupportedValue, BadChoice) as error:
            return ended(how=How.UNSTORABLE, error=describe(error))

    def failed(
        self, path: str, direction: Direction, error: BaseException, how: How, policy: Policy | None, attempt: int
    ) -> Outcome:
        """The outcome of a call that did not return; with a policy, it may be tried again."""
        delay = delay_of(policy, error, attempt, clock.dice()) if policy else 0.0
        return Outcome(
            path=path,
            direction=direction,
            how=how,
            at=self.claim.moment(),
            error=describe(error),
            retry=policy is not None,
            delay=delay,
        )

    def _call(self, function: Callable[..., Any], arguments: dict[str, Any], policy: Policy) -> Any:
        """The one place where user code runs outside a transaction of ours."""
        with clean_connections(), contained(self.claim.using), self.bound(policy) as bound:
            return run(bound, function, arguments)

    def bound(self, policy: Policy, *, locked: bool = False) -> Bound:
        """The limits of one call: its timeout, and the lease, unless the call holds what every claim must lock."""
        left = NEVER if locked else self.claim.lease_ends - clock.monotonic()
        return bounded(LONGEST if policy.timeout is None else policy.timeout, lease=left)

    def _given(self, step: Step[..., Any], record: Record, plan: CallPlan, direction: Direction) -> dict[str, Any]:
        """A handler's arguments: the forward call's own first, then what that call could see."""
        said: dict[str, Any] = {"error": ErrorInfo.from_json(record.error_text) if record.error_text else None}
        if record.output_text is not None and "result" in plan.sources:
            said["result"] = self.values.output(record.path)
        given = ChainMap(said, self.values.arguments(record))  # type: ignore[arg-type]  # nothing is written to it
        context = self._context(step, record.path, record, direction)
        return fill(plan, self.values.at(record.path), ctx=context, given=given)

    def _timed(self, node: Called) -> Step[..., Any] | None:
        return node if isinstance(node, Step) else None

    def _context(self, step: Step[..., Any] | None, path: str, record: Record | None, direction: Direction) -> Context:
        return context(self.saga, self.values, self.claim, Site(step, path, record, direction))

    def _key(self, path: str, direction: str) -> str:
        return key_of(self.values, path, direction)


def run(bound: Bound, function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Call it, and wait for what has to be awaited."""
    if inspect.iscoroutinefunction(function):
        return bound.run_coroutine(function, **arguments)
    value = function(**arguments)
    if inspect.isawaitable(value):
        awaitable = value
        return bound.run_coroutine(lambda: awaitable)
    return value


def _is_inert(record: Record) -> bool:
    """Whether its arguments can be read back without running any code of the project."""
    text = record.arguments_text
    return text is None or (text != ELSEWHERE and codec.inert(text))
