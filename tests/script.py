"""Scripted steps: do("charge", fail(OSError), ok("c1"), comp=OK) fails once, then works, and notes each call.

A plan says what a body does, one entry per attempt, the last one for all that follow; x >> y does x, then y.
"""

from __future__ import annotations

import ctypes
import inspect
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from saga_app import Backoff, Context, Rejected, step
from saga_app.core.steps import Step
from tests import faults, ledger

PATIENCE = 10.0  # seconds for which `until` waits
NOTHING = inspect.Parameter.empty


@dataclass(frozen=True)
class Call:
    """What an entry knows of the call it is for."""

    arguments: Mapping[str, Any]
    attempt: int
    execution: str = ""


@dataclass(frozen=True)
class Entry:
    """One entry of a plan: a function of the call's arguments. Plain data where it can be, so that it pickles."""

    act: Callable[..., Any]
    values: tuple[Any, ...] = ()

    def __call__(self, call: Call) -> Any:
        """Do it; what it returns, the body returns."""
        return self.act(call, *self.values)

    def __rshift__(self, after: Entry) -> Entry:
        """This, then that."""
        return Entry(_both, (self, after))


Plan = Sequence[Entry]


def ok(value: Any = 1) -> Entry:
    """Return value; a function is called with the body's arguments (those it has parameters for) and its value is."""
    return Entry(_ok, (value,))


def fail(error: BaseException | type[BaseException]) -> Entry:
    """Raise it."""
    return Entry(_raise, (error,))


def reject(text: str = "no") -> Entry:
    """Raise Rejected: this attempt did nothing."""
    return Entry(_raise, (Rejected(text),))


def hang(seconds: float) -> Entry:
    """Sleep in Python code: a timeout can interrupt it."""
    return Entry(_hang, (seconds,))


def block(seconds: int) -> Entry:
    """Sleep in C code, where neither a signal nor another thread gets through."""
    return Entry(_block, (seconds,))


def die(when: str) -> Entry:
    """SIGKILL this worker, at a moment.

    "before": its intent is committed, and the body not called; "inside"; "after": returned, and not recorded;
    "recorded": the commit that has the outcome is through.
    """
    return Entry(_die, (when,))


def until(*marks: str) -> Entry:
    """Wait for marks like "hotel began", "car done"; 10 s at most."""
    return Entry(_until, marks)


def meet(n: int, at_most: float) -> Entry:
    """Wait until so many bodies of this execution have begun, and then go on all at once; at most so many seconds."""
    return Entry(_meet, (n, at_most))


def per(name: str, plans: Mapping[Any, Plan], other: Plan | None = None) -> Entry:
    """A plan of its own for some values of an argument: per("line", {"B": [fail(OSError)]})."""
    return Entry(_per, (name, dict(plans), tuple(other or [ok()])))


def do(
    name: str,
    *plan: Entry,
    comp: Plan | None = None,
    find: Any = None,
    needs_result: bool = False,
    takes: str = "",
    attempts: int = 1,
    comp_attempts: int = 1,
    timeout: float | None = 30,
    backoff: Backoff = Backoff(first=0, jitter=0),  # noqa: B008 - frozen
    **options: Any,
) -> Step[..., Any]:
    """A step whose body follows a plan by ctx.attempt and notes in the ledger when it begins and when it is done.

    Args:
        name: its name.
        *plan: what the body does; ok() when nothing is said.
        comp: the plan of its compensation; None: it has none.
        find: what its reconcile answers: a value, or an entry; None: it has none.
        needs_result: the compensation declares `result` without a default.
        takes: names of further parameters, of body and handlers.
        attempts: how often the body is tried (the product's default is 3).
        comp_attempts: how often the compensation is.
        timeout: as of @step.
        backoff: of both directions; no wait at all where nothing is said.
        **options: as of @step.
    """
    names = takes.split()
    made = step(name=name, attempts=attempts, timeout=timeout, backoff=backoff, **options)(
        _body(name, plan or (ok(),), names)
    )
    if comp is not None:
        undo = _body(f"~{name}", tuple(comp), names, result=NOTHING if needs_result else _NoResult)
        made.compensate(attempts=comp_attempts, backoff=backoff)(undo)
    if find is not None:
        made.reconcile(_body(f"?{name}", (find if isinstance(find, Entry) else ok(find),), names))
    return made


def fix(name: str, *plan: Entry) -> None:
    """A new plan from now on, in every process ("~a" too); its first entry is for the next call."""
    ledger.fix(name, plan)


class _NoResult:
    """The default of a compensation's `result`: there is none."""


def _body(name: str, plan: Plan, takes: Sequence[str], **extra: Any) -> Callable[..., Any]:
    def body(**given: Any) -> Any:
        ctx: Context = given["ctx"]
        arguments = {key: value for key, value in given.items() if key != "ctx" and value is not _NoResult}
        entry = _nth(plan, ctx.attempt)
        if entry.act is _die and entry.values == ("before",):
            faults.die()
        call = (name, f"{name[0]}{ctx.path}" if name[0] in "~?" else ctx.path, ctx.idempotency_key)
        told = {"outcome": ctx.outcome, "forward_key": ctx.forward_idempotency_key} if name[0] == "~" else {}
        ledger.note("began", *call, ctx.execution_id, ctx.attempt, {**arguments, **told})
        entry = _fixed(name, ctx) or entry
        ended = "raised"
        try:
            value = entry(Call(arguments, ctx.attempt, str(ctx.execution_id)))
            ended = "done"
        finally:
            ledger.note(ended, *call, ctx.execution_id, ctx.attempt, {})
        faults.returned()
        return value

    body.__name__ = body.__qualname__ = "undo" if name[0] == "~" else "find" if name[0] == "?" else name
    parameters = [inspect.Parameter(one, inspect.Parameter.KEYWORD_ONLY) for one in [*takes, "ctx"]]
    parameters += [inspect.Parameter(k, inspect.Parameter.KEYWORD_ONLY, default=v) for k, v in extra.items()]
    body.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return body


def _nth(plan: Plan, number: int) -> Entry:
    return plan[min(number, len(plan)) - 1]


def _fixed(name: str, ctx: Context) -> Entry | None:
    found = ledger.fixed(name, ctx.execution_id)
    return None if found is None else _nth(*found)


def _both(call: Call, first: Entry, second: Entry) -> Any:
    first(call)
    return second(call)


def _ok(call: Call, value: Any) -> Any:
    if not inspect.isroutine(value):
        return value
    wanted = inspect.signature(value).parameters
    return value(**{name: given for name, given in call.arguments.items() if name in wanted})


def _raise(_call: Call, error: BaseException | type[BaseException]) -> None:
    raise error


def _hang(_call: Call, seconds: float) -> None:
    time.sleep(seconds)


def _block(_call: Call, seconds: int) -> None:
    everything = signal.valid_signals()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, everything)
    try:
        ctypes.PyDLL(None).sleep(seconds)  # PyDLL keeps the interpreter's lock: no other thread runs either
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _die(_call: Call, when: str) -> None:
    if when == "inside":
        faults.die()
    if when not in ("before", "after", "recorded"):
        raise ValueError(when)
    faults.plan(when)


def _until(_call: Call, *marks: str) -> None:
    ends = time.monotonic() + PATIENCE
    while not all(ledger.has(mark) for mark in marks):
        if time.monotonic() >= ends:
            raise AssertionError(f"waited {PATIENCE:g} s for {', '.join(marks)} in process {os.getpid()}")
        time.sleep(0.01)


def _meet(call: Call, n: int, at_most: float) -> None:
    ends = time.monotonic() + at_most
    while ledger.begun_in(call.execution) < n and time.monotonic() < ends:
        time.sleep(0.002)


def _per(call: Call, name: str, plans: Mapping[Any, Plan], other: Plan) -> Any:
    return _nth(plans.get(call.arguments[name], other), call.attempt)(call)


OK = [ok(None)]
