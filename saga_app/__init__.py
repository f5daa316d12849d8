"""The words for writing sagas. Importable before django.setup()."""

from saga_app.core.answers import Decision, Happened, NotHappened, Unknown
from saga_app.core.backoff import Backoff
from saga_app.core.context import Context
from saga_app.core.errors import (
    DefinitionError,
    GiveUp,
    InputError,
    KeyConflict,
    NotReady,
    Rejected,
    RetryLater,
    SagaError,
    Undecodable,
    UnknownExecution,
    UnknownSaga,
    UnsupportedValue,
    VerbRefused,
)
from saga_app.core.nodes import (
    Approval,
    Branch,
    Child,
    Compute,
    ForEach,
    If,
    Milestone,
    Parallel,
    Pivot,
    Repeat,
    Sleep,
    Try,
    Wait,
    While,
)
from saga_app.core.refs import ref
from saga_app.core.saga import Saga
from saga_app.core.steps import step

__all__ = [
    "Approval",
    "Backoff",
    "Branch",
    "Child",
    "Compute",
    "Context",
    "Decision",
    "DefinitionError",
    "ForEach",
    "GiveUp",
    "Happened",
    "If",
    "InputError",
    "KeyConflict",
    "Milestone",
    "NotHappened",
    "NotReady",
    "Parallel",
    "Pivot",
    "Rejected",
    "Repeat",
    "RetryLater",
    "Saga",
    "SagaError",
    "Sleep",
    "Try",
    "Undecodable",
    "Unknown",
    "UnknownExecution",
    "UnknownSaga",
    "UnsupportedValue",
    "VerbRefused",
    "Wait",
    "While",
    "ref",
    "step",
]
