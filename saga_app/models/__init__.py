"""The tables: executions, their step records, their history, and the workers that drive them."""

from saga_app.models.event import Event
from saga_app.models.execution import Execution, StuckExecution
from saga_app.models.step_record import StepRecord
from saga_app.models.worker import Worker

__all__ = ["Event", "Execution", "StepRecord", "StuckExecution", "Worker"]
