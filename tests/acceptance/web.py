"""A browser on the admin, as far as cases about executions need one."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from saga_app.models import Execution


def web() -> Client:
    """A browser in which the superuser is logged in."""
    client = Client()
    root = User.objects.filter(username="root").first() or User.objects.create_superuser("root")
    client.force_login(root)
    return client


def run_url(x: Execution) -> str:
    """The page of one execution."""
    return reverse("admin:saga_app_execution_change", args=[x.pk])
