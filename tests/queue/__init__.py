"""Timeouts, the heartbeat, and django-q2's real processes."""
