"""The tables: executions, their step records, signals and history, the shapes of sagas, and the workers."""

from saga_app.models.event import Event
from saga_app.models.execution import Execution, StuckExecution
from saga_app.models.signal import Signal
from saga_app.models.step_record import StepRecord
from saga_app.models.version import SagaVersion
from saga_app.models.worker import Worker

__all__ = ["Event", "Execution", "SagaVersion", "Signal", "StepRecord", "StuckExecution", "Worker"]
