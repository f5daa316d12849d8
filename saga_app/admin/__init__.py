"""Shows executions to operators in Django's admin, and lets them act."""

from saga_app.admin.batches import OperatorBatchAdmin
from saga_app.admin.executions import ExecutionAdmin, StuckExecutionAdmin
from saga_app.admin.inbox import WaitingApprovalAdmin
from saga_app.admin.overview import OverviewAdmin
from saga_app.admin.sagas import SagaVersionAdmin
from saga_app.admin.workers import WorkerAdmin

__all__ = [
    "ExecutionAdmin",
    "OperatorBatchAdmin",
    "OverviewAdmin",
    "SagaVersionAdmin",
    "StuckExecutionAdmin",
    "WaitingApprovalAdmin",
    "WorkerAdmin",
]
