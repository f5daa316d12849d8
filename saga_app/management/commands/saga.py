"""`manage.py saga`: look at executions, use verbs on them, drive them here, and ask before a deploy.

Exit code 0: done. 1: refused, or found something; the sentence is on standard error. 2: misspelt.
With --json, standard output is one JSON value and nothing else.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import translation

from saga_app.core.errors import SagaError
from saga_app.core.status import Status, StuckReason
from saga_app.management import _saga_deploy, _saga_drive, _saga_graph, _saga_read, _saga_verbs

Run = Callable[[BaseCommand, dict[str, Any]], None]
#: These call bodies, which speak the language of the site; the others are all English, whatever that is.
DRIVES: tuple[Run, ...] = (_saga_drive.drain,)


class _AnyOrder(CommandParser):
    """Takes `start buy --key k sku=A1` too: argparse reads a list of words only where it first may stand."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Hand the words that are left over to the list they belong to."""
        options, rest = super().parse_known_args(args, namespace)
        if hasattr(options, "values") and not any(word.startswith("-") for word in rest):
            options.values, rest = [*options.values, *rest], []
        return options, rest


class Command(BaseCommand):
    """One command with a subcommand for each thing to do."""

    help = "Look at sagas' executions, and act on them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the subcommands."""
        words = parser.add_subparsers(title="subcommands", metavar="SUBCOMMAND", required=True, parser_class=_AnyOrder)

        def word(name: str, run: Run, text: str) -> ArgumentParser:
            added = words.add_parser(name, help=text, description=text)
            added.set_defaults(run=run)
            added.add_argument("--json", action="store_true", help="print JSON, for a program to read")
            return added

        _reads(word)
        _start(word("start", _saga_verbs.start, "Start a saga."))
        _acts(word)
        _answers(word)
        _elsewhere(word)
        word("drain", _saga_drive.drain, "Drive whatever is due, in this process, until nothing is.")
        word(
            "predeploy",
            _saga_deploy.predeploy,
            "List the open executions that this code would get stuck, and exit with 1 when there are any.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the subcommand; what is refused is told in a sentence, not in a traceback."""
        run: Run = options["run"]
        try:
            with nullcontext() if run in DRIVES else translation.override(None):
                run(self, options)
        except SagaError as refused:
            raise CommandError(_saga_read.printable(str(refused))) from refused


def _reads(word: Callable[[str, Run, str], ArgumentParser]) -> None:
    listing = word("executions", _saga_read.executions, "List executions, the newest first.")
    listing.add_argument("--saga", metavar="NAME", help="only of this saga")
    listing.add_argument("--status", choices=[one.value for one in Status], help="only those that are")
    reasons = [one.value for one in StuckReason if one]
    listing.add_argument("--stuck-reason", choices=reasons, help="only stuck for")
    listing.add_argument("--key", help="only the one started with this key")
    listing.add_argument("--limit", type=int, default=50, metavar="N", help="at most so many (default: 50)")
    show = word("show", _saga_read.show, "Show one execution: its steps, its history, and which verbs it allows.")
    show.add_argument("id", help="the execution")
    graph = word("graph", _saga_graph.graph, "Print a saga as text that draws it.")
    graph.add_argument("saga", metavar="NAME", help="the saga; its code, else as it was when it was last started")
    graph.add_argument("--revision", type=int, metavar="N", help="which revision (default: the highest)")
    graph.add_argument("--format", choices=list(_saga_graph.FORMATS), default="mermaid", help="default: mermaid")


def _start(parser: ArgumentParser) -> None:
    parser.add_argument("saga", metavar="NAME", help="the saga; its highest revision is started")
    given = parser.add_argument_group("input")
    given.add_argument("values", nargs="*", metavar="name=value", help="one field of the input, as text")
    given.add_argument("--input-json", metavar="OBJECT", help="the whole input as a JSON object; - reads it from stdin")
    parser.add_argument("--key", help="names the execution: a second start with the same key and input finds it")
    parser.add_argument("--actor", metavar="USERNAME", help="who starts it")


def _acts(word: Callable[[str, Run, str], ArgumentParser]) -> None:
    for name, text in (
        ("resume", "Try again what stopped, with more attempts; or let a suspended execution go on."),
        ("abandon", "Give up a stuck execution: what is still undone stays undone. Needs a reason."),
        ("cancel", "Ask an execution to stop at its next boundary and undo what it did."),
    ):
        _asks(word(name, _saga_verbs.act, text), name, guarded=True)


def _answers(word: Callable[[str, Run, str], ArgumentParser]) -> None:
    signal = _asks(word("signal", _saga_verbs.signal, "Send a signal to an execution."), "signal")
    signal.add_argument("name", metavar="NAME", help="the signal; or the path of the gate it is meant for")
    signal.add_argument("--payload", metavar="JSON", help="what it brings; - reads it from stdin")
    signal.add_argument("--key", help="names the signal: a second one of the same name and key is dropped")
    for name, text in (
        ("approve", "Approve what an execution waits for somebody to decide."),
        ("reject", "Reject what an execution waits for somebody to decide."),
    ):
        gate = _asks(word(name, _saga_verbs.decide, text), name, guarded=True)
        gate.add_argument("gate", metavar="GATE", help="the approval; inside a loop its path")
        gate.add_argument(
            "--values",
            dest="filled",
            metavar="OBJECT",
            help="what the approval asks for, as JSON; - reads it from stdin",
        )


def _elsewhere(word: Callable[[str, Run, str], ArgumentParser]) -> None:
    text = "Let an execution that is stuck because of its definition go on in another revision. Needs a reason."
    moved = _asks(word("move", _saga_verbs.move, text), "move", guarded=True)
    moved.add_argument("revision", type=int, metavar="REVISION", help="the revision; what ran must fit it")
    text = "Do an ended execution again from a step on, taking over what ran before it."
    forked = _asks(word("fork", _saga_verbs.fork, text), "fork")
    forked.add_argument("path", metavar="PATH", help="the step to begin at")
    forked.add_argument("--key", help="names the new execution")


def _asks(act: ArgumentParser, name: str, *, guarded: bool = False) -> ArgumentParser:
    act.set_defaults(verb=name)
    act.add_argument("id", help="the execution")
    act.add_argument("--reason", default="", help="why; kept in the history")
    act.add_argument("--actor", "--as", metavar="USERNAME", help="who does it")
    if guarded:
        act.add_argument("--seen", type=int, metavar="VERSION", help="refuse if it has changed since this version")
    return act
