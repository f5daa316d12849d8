"""Every error, as one tree.

SagaError
├── DefinitionError       a saga that cannot run (also a ValueError); raised when it is written, or sealed
├── BadChoice             what a callable that chooses answered cannot be followed (also a ValueError)
├── InputError            what start() was given does not fit the saga (also a ValueError)
├── UnsupportedValue      a value that would not come back equal (also a TypeError)
├── Undecodable           a stored value that cannot be read back
├── KeyConflict           one key, two different inputs
├── UnknownSaga           no saga of that name (also a LookupError)
├── UnknownExecution      no execution of that id (also a LookupError)
├── NotReady              called before django.setup(), or inside a transaction (also a RuntimeError)
├── BatchError            a batch that cannot be made as it was asked for (also a ValueError)
├── VerbRefused           a verb that the execution does not allow now
├── LeaseLost             somebody else drives this execution
└── StepOutcome           what a body raises to choose how its attempt ends
    ├── GiveUp            failed for good
    ├── RetryLater        failed, try again after a delay
    └── Rejected          failed, and known to have done nothing

Interrupt (a BaseException, so that a body does not swallow it)
├── StepTimeout           the body ran longer than its timeout
└── StepInterrupted       the lease was lost while the body ran
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta


class SagaError(Exception):
    """The root of every error this package raises."""


class DefinitionError(SagaError, ValueError):
    """A saga or a step is written in a way that cannot run; the text shows what to write instead."""


class BadChoice(SagaError, ValueError):
    """A callable that chooses the way (of a Branch, a condition, the items of a loop) answered what is no choice.

    Its step fails at once: asked again, it would answer the same.
    """


class InputError(SagaError, ValueError):
    """What was given to start a saga does not fit its input.

    Attributes:
        errors: name of the input field → what is wrong with it and what to do.
    """

    def __init__(self, saga: str, errors: Mapping[str, str]) -> None:
        self.saga, self.errors = saga, dict(errors)
        super().__init__(f"saga {saga!r}: " + "; ".join(f"{name}: {text}" for name, text in self.errors.items()))


class UnsupportedValue(SagaError, TypeError):
    """A value that cannot be stored so that it comes back equal and of the same type.

    Attributes:
        path: where in the value, such as `deep[0].x`.
        reason: what is wrong there.
    """

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path or 'value'}: {reason}")


class Undecodable(SagaError):
    """A stored value that cannot be read back.

    Attributes:
        path: where in the value.
        reason: what is wrong there.
        gone: the value refers to a database row that no longer exists.
    """

    def __init__(self, path: str, reason: str, *, gone: bool = False) -> None:
        self.path, self.reason, self.gone = path, reason, gone
        super().__init__(f"{path or 'value'}: {reason}")


class KeyConflict(SagaError):
    """The key already names an execution of this saga that was started with another input.

    Attributes:
        key: the key.
        paths: where the two inputs differ.
    """

    def __init__(self, saga: str, key: str, paths: Iterable[str]) -> None:
        self.key, self.paths = key, tuple(paths)
        super().__init__(
            f"saga {saga!r} already has an execution with key {key!r}, started with another input: "
            f"different in {', '.join(self.paths)}. Use another key, or start with the same input."
        )


class UnknownSaga(SagaError, LookupError):
    """No saga of that name (and revision) is registered in this process."""


class UnknownExecution(SagaError, LookupError):
    """No execution has that id."""


class NotReady(SagaError, RuntimeError):
    """The call cannot work here: Django is not set up yet, or a transaction is open where none may be."""


class BatchError(SagaError, ValueError):
    """What a batch was asked to be cannot be: nothing was selected, or too much, or at an impossible rate."""


class VerbRefused(SagaError):
    """A verb that the execution does not allow now. Nothing was changed.

    Attributes:
        code: a stable word for programs, such as `not_stuck`.
        params: what the sentence is made of.
        text: the sentence, in the active language.
    """

    def __init__(self, code: str, params: Mapping[str, object] | None = None, text: str = "") -> None:
        self.code, self.params = code, dict(params or {})
        self.text = text or code.replace("_", " ")
        super().__init__(self.text)


class LeaseLost(SagaError):
    """Somebody else drives this execution now; what was about to be written is dropped."""


class GateTimeout(SagaError):
    """A gate's time was up before a signal or a decision came."""


class ApprovalRejected(SagaError):
    """Somebody who may has rejected it."""


class ChildFailed(SagaError):
    """A child has failed, or was cancelled; what it says is why."""


class LoopExhausted(SagaError):
    """A loop has had as many turns as it may have, and would go on."""


class GroupFailed(SagaError):
    """More than one branch of a group has failed; what it says are all causes."""


class DeadlineExceeded(SagaError):
    """The whole execution was not over in the time that its saga allows."""


class StepOutcome(SagaError):
    """What a body raises to choose how its attempt ends. Never raised itself."""

    def __init__(self, reason: str = "") -> None:
        self.reason = reason
        super().__init__(reason)


class GiveUp(StepOutcome):
    """The step has failed for good: no further attempt. What it may have done is owed."""


class RetryLater(StepOutcome):
    """The attempt failed (it counts); the next one not before `delay` (seconds or timedelta) has passed."""

    def __init__(self, delay: float | timedelta, reason: str = "") -> None:
        self.delay = delay.total_seconds() if isinstance(delay, timedelta) else float(delay)
        super().__init__(reason or f"retry after {self.delay:g} s")


class Rejected(StepOutcome):
    """The attempt failed and is known to have done nothing: no retry, and nothing owed for it."""


class Interrupt(BaseException):
    """Raised into a body from outside. Never raised itself."""


class StepTimeout(Interrupt):
    """The body ran longer than its timeout; whether it had its effect is unknown."""


class StepInterrupted(Interrupt):
    """The lease was lost while the body ran; its outcome will not be recorded."""
