"""The verbs of `manage.py saga`: start, resume, abandon, cancel."""

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
    execution = verb(as_id(options["id"]), **asked)
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
    text = sys.stdin.read() if options["input_json"] == "-" else options["input_json"]
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise CommandError(f"--input-json is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise CommandError('--input-json takes an object: {"name": value}.')
    return value


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
