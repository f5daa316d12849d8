"""What the tests of `manage.py saga` share: run it, read what it prints, expect it to refuse."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command


def saga(*words: object) -> str:
    """What `manage.py saga …` prints; CommandError where it would exit with 1."""
    said = io.StringIO()
    call_command("saga", *map(str, words), stdout=said, stderr=io.StringIO())
    return said.getvalue()


def saga_json(*words: object) -> Any:
    return json.loads(saga(*words, "--json"))


def refusal(*words: object) -> str:
    with pytest.raises(CommandError) as refused:
        saga(*words)
    assert refused.value.returncode == 1
    return str(refused.value)


def misspelt(*words: object) -> None:
    """Misspelt: argparse's own complaint: exit code 2 in a shell."""
    with pytest.raises(CommandError, match=r"Error|required|invalid|unrecognized"):
        saga(*words)
