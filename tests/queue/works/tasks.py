"""Ordinary django-q2 tasks."""

from __future__ import annotations

import time

from tests.queue.works.notes import note


def say(word: str) -> None:
    note("task", word)


def work_for(seconds: float) -> None:
    note("long-task")
    time.sleep(seconds)
