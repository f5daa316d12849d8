"""Told in a process of its own (see test_cases_users.py), since a site chooses its user model once.

`python -m pytest --ds=tests.acceptance.own_users.settings tests/acceptance/own_users/story.py`
"""

from __future__ import annotations

from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from saga_app import Saga
from tests.harness import DONE, do, end, events, fail, held, ok, run, work


def test_c47_the_history_outlives_the_user() -> None:
    """Case C47. Own user model: the name is kept when the user is deleted, and found by."""
    users = get_user_model().objects
    operator = users.create(email="op@example.org")
    x = run(Saga("h", do("b", fail(OSError), ok()), on_failure="hold"))
    assert end(x) == held("step_failed")
    x.resume(actor=operator, reason="fixed")
    work()
    assert end(x) == DONE and [e.actor for e in events(x, "resume")] == [operator]
    operator.delete()
    assert [(e.actor, e.actor_name) for e in events(x, "resume")] == [(None, "op@example.org")]

    web = Client()
    web.force_login(users.create(email="root@example.org"))
    listed = web.get(reverse("admin:saga_app_execution_changelist"), {"q": "op@example.org"})
    shown = web.get(reverse("admin:saga_app_execution_change", args=[x.pk]))
    assert listed.status_code == shown.status_code == 200 and "op@example.org" in shown.text
    for name in ("overview", "stuckexecution", "waitingapproval", "operatorbatch", "sagaversion", "worker"):
        assert web.get(reverse(f"admin:saga_app_{name}_changelist")).status_code == 200, name
    selected = {"action": "batch_suspend", "_selected_action": [str(x.pk)], "index": "0"}
    frozen = web.post(reverse("admin:saga_app_execution_changelist"), selected, follow=True)
    assert frozen.status_code == 200 and "op@example.org" not in frozen.text and "root@example.org" in frozen.text
