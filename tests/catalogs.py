"""Brings the translations up to date: `make messages` extracts the texts, keeps what is translated, compiles the rest.

Django's own makemessages finds the texts, which needs xgettext (GNU gettext). It works on a copy, since it writes
beside what it reads. The catalogs are sorted and carry no dates and no line numbers: a change of theirs is a change of
words.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import polib

PACKAGE = Path(__file__).parent.parent / "saga_app"
LOCALE = PACKAGE / "locale"
LANGUAGES = sorted(folder.name for folder in LOCALE.iterdir()) if LOCALE.is_dir() else []
WIDTH = 100


def catalog(language: str) -> polib.POFile:
    """The translations into a language, as people write them."""
    return read(folder_of(language) / "django.po")


def folder_of(language: str) -> Path:
    return LOCALE / language / "LC_MESSAGES"


def read(path: Path) -> polib.POFile:
    return polib.pofile(str(path), wrapwidth=WIDTH)


def key(entry: polib.POEntry) -> tuple[str, str]:
    """What gettext finds a translation by."""
    return (entry.msgctxt or "", entry.msgid)


def can_extract() -> bool:
    return shutil.which("xgettext") is not None


def extracted() -> polib.POFile:
    """Every text of the package that is marked as one to translate, as makemessages finds them."""
    with tempfile.TemporaryDirectory() as scratch:
        here = Path(scratch)
        shutil.copytree(
            PACKAGE, here / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__", "locale", "migrations")
        )
        (here / "locale").mkdir()
        command = ["makemessages", "--locale=en", "--keep-pot", "--add-location=file"]
        environment = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
        done = subprocess.run(
            [sys.executable, "-m", "django", *command],
            cwd=here, env=environment, check=False, capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(done.stderr)
        return read(here / "locale" / "django.pot")


def merged(old: polib.POFile, new: polib.POFile) -> polib.POFile:
    """The new texts with the old translations; what is new has none yet."""
    translated = {key(entry): entry for entry in old}
    made = polib.POFile(wrapwidth=WIDTH)
    made.header, made.metadata = old.header, old.metadata
    for entry in sorted(new, key=lambda one: (one.msgid.casefold(), key(one))):
        before = translated.get(key(entry))
        if before is not None and bool(before.msgid_plural) == bool(entry.msgid_plural):
            entry.msgstr, entry.msgstr_plural = before.msgstr, before.msgstr_plural
            entry.tcomment = before.tcomment
        entry.occurrences = sorted({(file, "") for file, _ in entry.occurrences})
        made.append(entry)
    return made


def save(language: str, made: polib.POFile) -> None:
    """Write both files of a language: the one for people, and the one that programs read."""
    made.save(str(folder_of(language) / "django.po"))
    made.save_as_mofile(str(folder_of(language) / "django.mo"))


def main() -> int:
    if not can_extract():
        print("xgettext is not on this machine: install GNU gettext first")
        return 1
    new = extracted()
    for language in LANGUAGES:
        old = catalog(language)
        made = merged(old, new)
        save(language, made)
        print(f"{language}: {len(made)} texts, {len(made.untranslated_entries())} not translated")
        for gone in sorted({key(entry) for entry in old} - {key(entry) for entry in made}):
            print(f"    gone: {gone[1]!r}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
