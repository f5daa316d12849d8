"""How due executions reach a worker."""
