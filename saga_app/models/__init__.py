"""The tables: executions, their step records, signals and history, batches, the shapes of sagas, and the workers."""

from saga_app.models.batch import OperatorBatch, OperatorBatchItem
from saga_app.models.event import Event
from saga_app.models.execution import Execution, Overview, StuckExecution
from saga_app.models.signal import Signal
from saga_app.models.step_record import StepRecord, WaitingApproval
from saga_app.models.version import SagaVersion
from saga_app.models.worker import Worker

__all__ = [
    "Event",
    "Execution",
    "OperatorBatch",
    "OperatorBatchItem",
    "Overview",
    "SagaVersion",
    "Signal",
    "StepRecord",
    "StuckExecution",
    "WaitingApproval",
    "Worker",
]
