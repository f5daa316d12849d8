"""`manage.py demo`: the shop, filled and running, until Ctrl-C."""

from __future__ import annotations

import fcntl
import shutil
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError, CommandParser, call_command
from django.db import connections
from django.urls import reverse

from project import demo, samples
from project.processes import interrupt_once
from saga_app.models import Execution

READY = """
  The shop       http://127.0.0.1:{port}/
  The operators  http://127.0.0.1:{port}/admin/    login: {name} or {other}    password: {password}"""


class Command(BaseCommand):
    """Starts from empty databases and leaves nothing running."""

    help = "Run the demo shop: databases, sample orders, a cluster and the site. Ctrl-C stops all of it."

    def add_arguments(self, parser: CommandParser) -> None:
        """Which port."""
        parser.add_argument("--port", type=int, default=8000)

    def handle(self, *args: Any, port: int, **options: Any) -> None:
        """Set up, start, fill, and wait."""
        interrupt_once()
        _check_port(port)
        try:
            with _alone():
                _empty()
                call_command("migrate", verbosity=0)
                samples.fill()
                self._run(port)
        except KeyboardInterrupt:
            self.stdout.write("\nStopped.")
        except demo.ChildEnded as end:
            raise CommandError(str(end)) from end

    def _run(self, port: int) -> None:
        with demo.children(port) as family:
            demo.await_site(port, family)
            self.stdout.write(
                READY.format(port=port, name=samples.OPERATOR, other=samples.CLERK, password=samples.PASSWORD)
            )
            if "rest_framework" in settings.INSTALLED_APPS:
                self.stdout.write(f"  The API        http://127.0.0.1:{port}{reverse('saga_api:execution-list')}\n\n")
            self.stdout.write("Placing orders, one for every way an order can go …")
            demo.place_samples(family)
            states = Counter(Execution.objects.values_list("status", flat=True))
            self.stdout.write("  " + ", ".join(f"{count} {status}" for status, count in sorted(states.items())))
            self.stdout.write("\nCtrl-C stops everything.")
            demo.watch(family)


@contextmanager
def _alone() -> Iterator[None]:
    """One demo at a time: a second would empty the first one's databases."""
    with (settings.DATA_DIR / "demo.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as taken:
            raise CommandError("a demo is running already; stop it first") from taken
        yield


def _empty() -> None:
    """Begin with nothing; a database elsewhere than in our own folder is left as it is."""
    connections.close_all()
    if Path(settings.DATABASES["default"]["NAME"]).parent != settings.DATA_DIR:
        return
    for file in settings.DATA_DIR.glob("*.sqlite3*"):
        file.unlink()
    shutil.rmtree(settings.MAIL_DIR, ignore_errors=True)


def _check_port(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as problem:
            raise CommandError(f"port {port} is taken; choose another with --port") from problem
