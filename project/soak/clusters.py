"""The clusters of a soak: one for everything, and one beside the label printer."""

from __future__ import annotations

import os
from contextlib import suppress

from django.conf import settings

from project.processes import Child

NAMES = ("saga", "labels")


class Clusters:
    """All of them, started together and killed together."""

    def __init__(self) -> None:
        self.running = self._start()

    def kill(self) -> None:
        """SIGKILL every process of every cluster, and start them anew."""
        for cluster in self.running:
            cluster.kill()
        self.running = self._start()

    def stop(self) -> None:
        """Ask them to end, and see that they do."""
        for cluster in self.running:
            cluster.stop()

    def have_ended(self) -> bool:
        """Whether one is gone."""
        return any(cluster.has_ended() for cluster in self.running)

    def have(self, pid: int) -> bool:
        """Whether that process belongs to one of them."""
        with suppress(ProcessLookupError):
            return os.getpgid(pid) in {cluster.group for cluster in self.running}
        return False

    def last_words(self) -> str:
        """The end of what each said."""
        return "\n".join(cluster.last_words() for cluster in self.running)

    def _start(self) -> list[Child]:
        return [
            Child("qcluster", log=settings.DATA_DIR / f"qcluster-{name}.log", env={"Q_CLUSTER_NAME": name})
            for name in NAMES
        ]
