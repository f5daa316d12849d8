"""The text as it is stored, and the hook to encrypt it; encrypted text is marked, so that older rows stay readable."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from saga_app.codec import wire
from saga_app.codec.wire import Json
from saga_app.conf import settings
from saga_app.core.errors import Undecodable

MARK = "encrypted:"  # no JSON text begins so


def seal(text: str) -> str:
    """What is stored of a JSON text."""
    hook = _hook()
    return text if hook is None else MARK + _checked(hook.encrypt(text), "encrypt")


def unseal(text: str, path: str = "") -> Json:
    """The data of a stored text. Undecodable when it is none, or cannot be decrypted."""
    try:
        return wire.loads(_decrypted(text, path) if text.startswith(MARK) else text)
    except (ValueError, RecursionError) as error:
        raise Undecodable(path, f"is no stored value: {type(error).__name__}") from error


def _decrypted(text: str, path: str) -> str:
    hook = _hook()
    if hook is None:
        raise Undecodable(path, "is encrypted, and SAGA['ENCRYPTION'] is not set")
    try:
        return _checked(hook.decrypt(text.removeprefix(MARK)), "decrypt")
    except Exception as error:
        raise Undecodable(path, f"cannot be decrypted: {type(error).__name__}") from error


def _checked(made: object, verb: str) -> str:
    if not isinstance(made, str):
        raise ImproperlyConfigured(f"SAGA['ENCRYPTION']: {verb}() returned {type(made).__name__}, not str")
    return made


def _hook() -> Any:
    path = settings.ENCRYPTION
    return None if path is None else import_string(path)
