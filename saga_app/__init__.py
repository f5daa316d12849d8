"""The words for writing sagas. Importable before django.setup()."""

from saga_app.core.answers import Happened, NotHappened, Unknown
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
from saga_app.core.nodes import Pivot
from saga_app.core.refs import ref
from saga_app.core.saga import Saga
from saga_app.core.steps import step

__all__ = [
    "Backoff",
    "Context",
    "DefinitionError",
    "GiveUp",
    "Happened",
    "InputError",
    "KeyConflict",
    "NotHappened",
    "NotReady",
    "Pivot",
    "Rejected",
    "RetryLater",
    "Saga",
    "SagaError",
    "Undecodable",
    "Unknown",
    "UnknownExecution",
    "UnknownSaga",
    "UnsupportedValue",
    "VerbRefused",
    "ref",
    "step",
]
