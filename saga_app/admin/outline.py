"""The nodes of a saga as an outline that people read: what is called, how hard it is tried, what undoes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from saga_app import messages
from saga_app.core.failures import readable
from saga_app.core.nodes import (
    Approval,
    Child,
    ForEach,
    Milestone,
    Node,
    Pivot,
    Repeat,
    Sleep,
    Step,
    Try,
    Wait,
    While,
    blocks,
    called,
)
from saga_app.core.refs import Ref

if TYPE_CHECKING:
    from saga_app.core.handlers import Handler

WORDS = {
    "step": gettext_lazy("step"),
    "branch": gettext_lazy("branch"),
    "if": gettext_lazy("if"),
    "while": gettext_lazy("while"),
    "repeat": gettext_lazy("repeat until"),
    "foreach": gettext_lazy("for each"),
    "parallel": gettext_lazy("side by side"),
    "try": gettext_lazy("try"),
    "wait": gettext_lazy("wait for a signal"),
    "approval": gettext_lazy("approval"),
    "sleep": gettext_lazy("sleep"),
    "child": gettext_lazy("child"),
    "milestone": gettext_lazy("milestone"),
    "pivot": gettext_lazy("pivot"),
    "compute": gettext_lazy("compute"),
}
BLOCKS = {
    "true": gettext_lazy("if so"),
    "false": gettext_lazy("if not"),
    "timeout": gettext_lazy("when its time is up"),
    "reject": gettext_lazy("when it is rejected"),
    "body": gettext_lazy("each time"),
    "recover": gettext_lazy("when that fails"),
}


@dataclass(frozen=True, slots=True)
class Item:
    """One node.

    Attributes:
        name: what its records are called; empty where it has none.
        kind: in a word.
        title: what its author calls it.
        lines: what else is to be known.
        child: the saga whose executions it starts.
        blocks: the rows inside it, each with its label.
    """

    name: str
    kind: str
    title: str
    lines: list[str]
    child: str = ""
    blocks: list[tuple[str, list[Item]]] = field(default_factory=list)


def outline(nodes: Iterable[Node]) -> list[Item]:
    """The nodes one after the other, what is inside one below it."""
    return [_item(node) for node in nodes]


def _item(node: Node) -> Item:
    step = called(node)
    kind = node.kind if step is None or not step.pure or not isinstance(node, Step) else "compute"
    return Item(
        name="" if node.kind in ("parallel", "try", "pivot") else node.name,
        kind=messages.word(WORDS, kind),
        title=step.title if step else "",
        lines=[readable(line) for line in _lines(node)],
        child=node.target.name if isinstance(node, Child) else "",
        blocks=[(_label(node, label), outline(row)) for label, row in blocks(node) if row],
    )


def _label(node: Node, label: str) -> str:
    if isinstance(node, While | Repeat | ForEach):
        return str(BLOCKS["body"])
    if isinstance(node, Try) and label != "recover":
        return ""
    return messages.word(BLOCKS, label) if node.kind in ("if", "try", "wait", "approval") else label


def _lines(node: Node) -> Iterator[str]:
    match node:
        case Step():
            yield from _step(node)
        case While() | Repeat():
            count = node.max_iterations
            yield ngettext("at most %(count)d turn", "at most %(count)d turns", count) % {"count": count}
        case ForEach():
            count = node.concurrency
            together = ngettext("%(count)d at a time", "%(count)d at a time", count) % {"count": count}
            yield _("one after the other") if count == 1 else together
        case Try():
            yield _("catches %(errors)s") % {"errors": ", ".join(one.__name__ for one in node.catch)}
        case Child() if not node.compensated:
            yield _("not undone")
        case Wait() | Approval():
            yield from _gate(node)
        case Sleep():
            yield _how_long(node)
        case Milestone():
            yield _("an unwind stops here")
        case Pivot():
            yield _("from here on it only goes forward")


def _step(step: Step[..., Any]) -> Iterator[str]:
    yield _tries(step.policy.attempts, step.policy.timeout)
    if step.pure:
        return
    if step.atomic:
        yield _("atomic")
    if not step.required:
        yield _("optional: the saga goes on without it")
    if step.queue:
        yield _("queue %(queue)s") % {"queue": step.queue}
    if step.compensation is None:
        yield _("no compensation")
    elif not step.compensated:
        yield _("not undone here")
    else:
        policy = step.compensation.policy
        tries = _tries(policy.attempts, policy.timeout)
        yield _("undone by %(name)s, %(tries)s") % {"name": _name(step.compensation), "tries": tries}
    if step.reconciler is not None:
        yield _("%(name)s finds out whether it happened") % {"name": _name(step.reconciler)}


def _tries(attempts: int, timeout: float | None) -> str:
    count = ngettext("%(count)d attempt", "%(count)d attempts", attempts) % {"count": attempts}
    if timeout is None:
        return _("%(attempts)s without a time limit") % {"attempts": count}
    return _("%(attempts)s of at most %(time)s") % {"attempts": count, "time": messages.span(timeout)}


def _name(handler: Handler) -> str:
    return str(getattr(handler.function, "__name__", "<lambda>"))


def _gate(gate: Wait | Approval) -> Iterator[str]:
    if isinstance(gate, Approval):
        if gate.permission:
            yield _("by somebody with the permission “%(permission)s”") % {"permission": gate.permission}
        if gate.allow is not None:
            yield _("by whom the saga’s own function allows")
        if gate.four_eyes:
            yield _("by somebody else than who started it")
        if gate.on_reject == "fail":
            yield _("a rejection fails it")
    if gate.timeout is not None:
        open_for = _("open for %(time)s") % {"time": messages.span(gate.timeout)}
        yield f"{open_for}, {_('then it fails')}" if gate.on_timeout == "fail" else open_for


def _how_long(node: Sleep) -> str:
    word, value = next(iter(node.bindings.items()))
    if isinstance(value, int | float):
        return _("for %(time)s") % {"time": messages.span(value)}
    shown = value.path if isinstance(value, Ref) else getattr(value, "__name__", "<lambda>")
    if isinstance(value, datetime):
        shown = value.isoformat(" ")
    text = _("until %(time)s") if word == "until" else _("as long as %(time)s says")
    return text % {"time": shown}
