"""A language in which every text of ours stands in brackets: what stands outside of them nobody can translate."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polib
from django.test import override_settings

from tests import catalogs

RIGHT_TO_LEFT = "he"


@contextmanager
def in_brackets(folder: Path) -> Iterator[None]:
    """Make Hebrew that language while the block lasts; what Django says itself stays in Hebrew.

    Args:
        folder: an empty one, for its catalog.
    """
    place = folder / RIGHT_TO_LEFT / "LC_MESSAGES"
    place.mkdir(parents=True)
    made = polib.POFile()
    made.metadata = {**catalogs.catalog("de").metadata, "Language": RIGHT_TO_LEFT}
    for entry in catalogs.catalog("de"):
        if entry.msgid_plural:
            entry.msgstr_plural = {0: f"⟦{entry.msgid}⟧", 1: f"⟦{entry.msgid_plural}⟧"}
        else:
            entry.msgstr = f"⟦{entry.msgid}⟧"
        made.append(entry)
    made.save_as_mofile(str(place / "django.mo"))
    with override_settings(LOCALE_PATHS=[str(folder)]):
        yield
