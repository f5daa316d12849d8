"""The strip on top of every page of the console: whether anybody works, what is late, how much is stuck."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django import template
from django.template.context import Context
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from saga_app import clock, messages
from saga_app.core.readable import readable
from saga_app.store import pulse as reading
from saga_app.store.pulse import Due, Pulse
from saga_app.store.transactions import alias
from saga_app.store.workers import command
from saga_app.templatetags.addresses import address

register = template.Library()

LATE = 60.0  # seconds past its due time after which somebody should ask why nobody takes it up


@register.inclusion_tag("admin/saga_app/parts/strip.html", takes_context=True)
def saga_strip(context: Context) -> dict[str, Any]:
    """How the whole is doing, for those who may view executions."""
    request = context.get("request")
    if request is None or not request.user.has_perm("saga_app.view_execution"):
        return {}
    pulse = reading.pulse(alias())
    late = (clock.now() - pulse.oldest).total_seconds() if pulse.oldest else 0.0
    return {
        "shown": True,
        "workers": _workers(pulse),
        "works": bool(pulse.workers),
        "due": _due(pulse, late),
        "late": late > LATE,
        "stuck": _capped(pulse.stuck),
        "lately": pulse.stuck_lately,
        "alarms": list(_alarms(pulse)),
        **{f"{name}_url": address(request, f"{name}_changelist") for name in ("overview", "worker", "stuckexecution")},
    }


def _workers(pulse: Pulse) -> str:
    if not pulse.workers:
        return _("no worker")
    workers, clusters = pulse.workers, len(pulse.clusters)
    text = ngettext("%(count)d worker", "%(count)d workers", workers) % {"count": workers}
    if clusters > 1:
        text = _("%(workers)s in %(clusters)d clusters") % {"workers": text, "clusters": clusters}
    return text


def _due(pulse: Pulse, late: float) -> str:
    if not pulse.count:
        return _("nothing is due")
    return _("%(count)s due, the oldest for %(late)s") % {"count": _capped(pulse.count), "late": messages.span(late)}


def _capped(count: int) -> str:
    return f"{number_format(reading.MOST, force_grouping=True)}+" if count > reading.MOST else str(count)


def _alarms(pulse: Pulse) -> Iterator[tuple[str, str]]:
    """What somebody has to do at once, and the command for it. Without times: a screen reader says what has changed."""
    if not pulse.workers:
        said = _("Nobody works, and something is due.") if pulse.count else _("Nobody works: what is started waits.")
        yield said, command("")
        pulse = Pulse(due=tuple(due for due in pulse.due if due.queue))
    for due in pulse.unserved:
        yield _nobody_serves(due), command(due.queue)
    for cluster in pulse.wedged:
        yield (
            _(
                "The cluster %(cluster)s on %(host)s takes nothing from its queue: a worker was probably killed while "
                "it held the queue's lock. End all its processes and start it again."
            )
            % {"cluster": readable(cluster.name), "host": readable(cluster.host)},
            "",
        )


def _nobody_serves(due: Due) -> str:
    if not due.queue:
        return _("Something is due in the default queue, and no worker serves it.")
    return _("Something is due in the queue “%(queue)s”, and no worker serves it.") % {"queue": readable(due.queue)}
