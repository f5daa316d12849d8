"""What is checked of the queues: that `manage.py qcluster` drives executions, and that named queues can be served."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Mapping
from typing import Any

from django.apps import apps
from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's name
from django.utils.module_loading import import_string

from saga_app import conf
from saga_app.core import registry
from saga_app.store import workers

Messages = Iterator[CheckMessage]

BROKERS = (
    '"broker_class": "saga_app.queue.broker.OrmBroker" (or RedisBroker beside a Redis, SagaBroker for sagas alone)'
)


def found() -> Messages:
    """What is wrong with the queues as they are written."""
    written = conf.q_cluster()
    if not apps.is_installed("django_q"):  # then no broker can be imported, which says less
        said = "INSTALLED_APPS has no django_q, so there are no tables of its queue and no `manage.py qcluster`."
        yield Error(said, hint='Add "django_q" to INSTALLED_APPS, and run `manage.py migrate`.', id="saga_app.E012")
    elif problem := _broker_problem(written.get("broker_class")):
        yield Error(problem, hint=f"Write in Q_CLUSTER: {BROKERS}.", id="saga_app.E001")
    if "fork" not in multiprocessing.get_all_start_methods():
        hint = "Run `manage.py qcluster` on Linux or macOS; the site itself may run here."
        yield Error(
            "This platform cannot fork, and the cluster's processes share memory.", hint=hint, id="saga_app.E011"
        )
    workers = written.get("workers") or multiprocessing.cpu_count()
    limit = written.get("queue_limit", workers**2)
    if written and (not limit or limit > workers):
        said = f"Q_CLUSTER: queue_limit is {limit or 'none'}, above the {workers} workers."
        hint = f'Write "queue_limit": {workers}: what waits in a longer queue waits behind whoever is slow.'
        yield Warning(said, hint=hint, id="saga_app.W004")
    for queue, where in _named().items():
        yield from _one(queue, where, written)


def _broker_problem(dotted: object) -> str:
    """Why `manage.py qcluster` would not drive executions; "" when it would."""
    if not dotted:
        return "Q_CLUSTER names no broker_class, so `manage.py qcluster` drives no executions."
    try:
        from saga_app.queue.tickets import SagaTickets  # noqa: PLC0415 - it needs django_q, which may be missing

        broker = import_string(str(dotted))
    except Exception as error:  # noqa: BLE001 - an import may fail in any way
        return f"Q_CLUSTER: broker_class {dotted!r} cannot be imported: {error}"
    if isinstance(broker, type) and issubclass(broker, SagaTickets):
        return ""
    return f"Q_CLUSTER: broker_class {dotted!r} does not look at the saga tables, so executions are not driven."


def _named() -> dict[str, str]:
    """The queues that this project names → where each is named first."""
    named: dict[str, str] = {}
    for saga in registry.all():
        if saga.queue is not None:
            named.setdefault(saga.queue, f"saga {saga.name!r}")
        for step in saga.steps:
            if step.queue is not None:
                named.setdefault(step.queue, f"saga {saga.name!r}, step `{step.name}`")
    return named


def _one(queue: str, where: str, written: Mapping[str, Any]) -> Messages:
    others = written.get("ALT_CLUSTERS") or {}
    if queue in conf.own_names():
        said = f"{where}: {queue!r} is the name of the default cluster, which serves what names no queue."
        yield Warning(said, hint="Leave queue= out.", id="saga_app.W009")
    elif queue not in others:
        said = f"{where} waits on the queue {queue!r}, and Q_CLUSTER has no cluster of that name."
        hint = (
            f'Write "ALT_CLUSTERS": {{"{queue}": {{"workers": 1, "queue_limit": 1}}}} in Q_CLUSTER, and run '
            f"`{workers.command(queue)}` beside the default cluster."
        )
        yield Warning(said, hint=hint, id="saga_app.W009")
    else:
        other = {**written, **(others[queue] or {})}
        problem = _broker_problem(other.get("broker_class")) if apps.is_installed("django_q") else ""
        if problem and other.get("broker_class") != written.get("broker_class"):
            hint = f"Take broker_class out of ALT_CLUSTERS[{queue!r}], so that it has that of Q_CLUSTER."
            yield Warning(f"{where} waits on the queue {queue!r}. {problem}", hint=hint, id="saga_app.W010")


def unserved(using: str) -> Messages:
    """Named queues in which something is due now, and nobody is there."""
    for queue in workers.unserved(using):
        if queue:
            said = f"Something is due on the queue {queue!r}, and no worker that serves it was seen for a minute."
            yield Warning(said, hint=f"Run `{workers.command(queue)}`.", id="saga_app.W011")
