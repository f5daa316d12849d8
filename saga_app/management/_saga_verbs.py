"""The verbs of `manage.py saga`: start, resume, abandon, cancel, signal, approve, reject, move, fork."""

from __future__ import annotations

import json
import sys
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.management.base import BaseCommand, CommandError

from saga_app import engine, messages
from saga_app.core import registry
from saga_app.management._saga_read import as_id, printable, say, say_json, summary
from saga_app.models import Execution


def start(command: BaseCommand, options: dict[str, Any]) -> None:
    """Start a saga; say whether its key named an execution that was there."""
    saga = registry.latest(options["saga"])
    given = saga.convert(_input(options))
    execution = engine.start(saga, given, key=options["key"], actor=_actor(options["actor"]))
    if options["json"]:
        say_json(command, summary(execution) | {"is_new": execution.is_new})
    elif execution.is_new:
        say(command, f"Started {execution.saga} as {execution.pk}.")
    else:
        say(command, f"Its key had started it before: {execution.pk}, {messages.status_word(execution.status)}.")


def act(command: BaseCommand, options: dict[str, Any]) -> None:
    """Use a verb on one execution; say what is true now."""
    verb = getattr(engine, options["verb"])
    asked = {"actor": _actor(options["actor"]), "reason": options["reason"], "version": options["seen"]}
    _accepted(command, options, verb(as_id(options["id"]), **asked))


def signal(command: BaseCommand, options: dict[str, Any]) -> None:
    """Send a signal, with what it brings."""
    payload = None if options["payload"] is None else _json("--payload", options["payload"])
    asked = {"key": options["key"], "actor": _actor(options["actor"]), "reason": options["reason"]}
    _accepted(command, options, engine.signal(as_id(options["id"]), options["name"], payload, **asked))


def decide(command: BaseCommand, options: dict[str, Any]) -> None:
    """Open or close a gate."""
    values = None if options["filled"] is None else _object("--values", options["filled"])
    verb = getattr(engine, options["verb"])
    asked = {"actor": _actor(options["actor"]), "reason": options["reason"], "version": options["seen"]}
    _accepted(command, options, verb(as_id(options["id"]), options["gate"], values=values, **asked))


def move(command: BaseCommand, options: dict[str, Any]) -> None:
    """Let an execution go on in another revision."""
    asked = {"actor": _actor(options["actor"]), "reason": options["reason"], "version": options["seen"]}
    _accepted(command, options, engine.move(as_id(options["id"]), options["revision"], **asked))


def fork(command: BaseCommand, options: dict[str, Any]) -> None:
    """Do an ended execution again from a step on."""
    asked = {"actor": _actor(options["actor"]), "reason": options["reason"], "key": options["key"]}
    execution = engine.fork(as_id(options["id"]), options["path"], **asked)
    if options["json"]:
        say_json(command, summary(execution) | {"is_new": execution.is_new})
    else:
        say(command, f"Forked as {execution.pk}.")


def _accepted(command: BaseCommand, options: dict[str, Any], execution: Execution) -> None:
    if options["json"]:
        say_json(command, summary(execution))
    else:
        said = messages.verb_word(options["verb"])
        say(command, f"{said}: accepted. {execution.pk} is {messages.status_word(execution.status)}.")


def _input(options: dict[str, Any]) -> dict[str, Any]:
    """The input as the shell gave it: text by text, or one JSON object."""
    if options["input_json"] is None:
        return dict(_pair(text) for text in options["values"])
    if options["values"]:
        raise CommandError("Give the input as name=value, or as --input-json, not as both.")
    return _object("--input-json", options["input_json"])


def _object(option: str, text: str) -> dict[str, Any]:
    value = _json(option, text)
    if not isinstance(value, dict):
        raise CommandError(f'{option} takes an object: {{"name": value}}.')
    return value


def _json(option: str, text: str) -> Any:
    """What stands there, or where there is only a dash, on standard input."""
    try:
        return json.loads(sys.stdin.read() if text == "-" else text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise CommandError(f"{option} is no JSON: {error}") from error


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise CommandError(f'"{printable(text)}" is not name=value.')
    return name, value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _actor(username: str | None) -> AbstractBaseUser | None:
    if username is None:
        return None
    model = get_user_model()
    try:
        return model._default_manager.get_by_natural_key(username)  # noqa: SLF001 - Django's documented name for it
    except model.DoesNotExist:
        raise CommandError(f'No user is called "{printable(username)}".') from None
