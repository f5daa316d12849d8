"""Shows executions to operators in Django's admin, and lets them act."""

from saga_app.admin.executions import ExecutionAdmin, StuckExecutionAdmin

__all__ = ["ExecutionAdmin", "StuckExecutionAdmin"]
