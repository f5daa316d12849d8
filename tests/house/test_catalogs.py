"""The translations are whole: every text of the code in each language, with its placeholders, compiled and in order."""

from __future__ import annotations

import re
from collections.abc import Iterator

import polib
import pytest

from tests import catalogs
from tests.house import source

PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]|%[a-z%]|\{\w*\}|</?\w+>")
ENGLISH_MARKS = {"de": "”", "fr": "“”"}
MARKS = {"de": ("„", "“"), "fr": ("«\u00a0", "\u00a0»")}
GLOSSARY = re.compile(r"^\s*(.+?) = (.+?)(?:\s{2,}(.+?) = (.+))?$", re.MULTILINE)
OF_DESIGN = {
    "saga", "node", "execution", "step record", "attempt", "compensation", "unwind", "pivot", "milestone", "signal",
    "claim", "lease", "fence", "stuck", "resume", "abandon", "cancel", "suspend", "skip", "resolve", "rerun", "fork",
    "move",
}  # fmt: skip
#: Nouns that no sentence needs to paraphrase: where English says one of them, so does each other language.
ALWAYS = {"saga", "compensation", "pivot", "milestone", "signal", "attempt", "revision", "worker"}

each_language = pytest.mark.parametrize("language", catalogs.LANGUAGES)


def texts(entry: polib.POEntry) -> list[tuple[str, str]]:
    """Each translated form with the English text that it stands for."""
    if not entry.msgid_plural:
        return [(entry.msgid, entry.msgstr)]
    return [(entry.msgid_plural if form else entry.msgid, text) for form, text in entry.msgstr_plural.items()]


def forms(language: str) -> Iterator[tuple[str, str]]:
    for entry in catalogs.catalog(language):
        yield from texts(entry)


def test_german_and_french_are_there() -> None:
    assert {"de", "fr"} <= {*catalogs.LANGUAGES}


@pytest.mark.skipif(not catalogs.can_extract(), reason="GNU gettext (xgettext) is not on this machine")
def test_every_text_is_in_every_catalog() -> None:
    """`make messages` would change nothing: no text of the code is missing, and none that has gone is kept."""
    wanted = {catalogs.key(entry): entry.msgid_plural for entry in catalogs.extracted()}
    for language in catalogs.LANGUAGES:
        assert {catalogs.key(entry): entry.msgid_plural for entry in catalogs.catalog(language)} == wanted, language


@each_language
def test_everything_is_translated(language: str) -> None:
    """Nothing empty, nothing fuzzy, nothing left over, and every form of a plural."""
    catalog = catalogs.catalog(language)
    count = int(catalog.metadata["Plural-Forms"].partition("nplurals=")[2][0])
    assert [entry.msgid for entry in catalog if entry.obsolete or "fuzzy" in entry.flags] == []
    assert [entry.msgid for entry in catalog if not all(text.strip() for _, text in texts(entry))] == []
    assert [entry.msgid for entry in catalog if entry.msgid_plural and len(entry.msgstr_plural) != count] == []


@each_language
def test_placeholders_are_kept(language: str) -> None:
    """A translation prints what the text prints; a name that is misspelt would break the page."""
    kept = [(text, made) for text, made in forms(language) if sorted(marks(text)) != sorted(marks(made))]
    assert kept == []


def marks(text: str) -> list[str]:
    return PLACEHOLDER.findall(text)


@each_language
def test_the_compiled_catalog_is_the_written_one(language: str) -> None:
    """Programs read the .mo; it is made of the .po by `make messages`, and never by hand."""
    written = {catalogs.key(entry): texts(entry) for entry in catalogs.catalog(language)}
    compiled = polib.mofile(str(catalogs.folder_of(language) / "django.mo"))
    assert {catalogs.key(entry): texts(entry) for entry in compiled} == written
    assert compiled.metadata == catalogs.catalog(language).metadata


@each_language
def test_a_change_of_a_catalog_is_a_change_of_words(language: str) -> None:
    """Sorted, and without dates, line numbers and names of people."""
    catalog = catalogs.catalog(language)
    order = [(entry.msgid.casefold(), catalogs.key(entry)) for entry in catalog]
    assert order == sorted(order)
    assert not {"POT-Creation-Date", "PO-Revision-Date", "Last-Translator", "Language-Team"} & catalog.metadata.keys()
    assert {line for entry in catalog for _, line in entry.occurrences} <= {""}


@pytest.mark.parametrize("language", MARKS)
def test_quotation_marks_are_those_of_the_language(language: str) -> None:
    first, last = MARKS[language]
    for text, made in forms(language):
        assert made.count(first) == made.count(last), made
        assert made.count(first) >= text.count("“"), made
        assert not {*ENGLISH_MARKS[language]} & {*made}, made


@pytest.mark.parametrize("language", ["de", "fr"])
def test_french_and_german_spaces(language: str) -> None:
    """French has a space, which never breaks, before what is high; German has none, nor a space at an end."""
    for text, made in forms(language):
        assert (made[:1].isspace(), made[-1:].isspace()) == (text[:1].isspace(), text[-1:].isspace()), made
        assert "  " not in made, made
        wrong = r"(?<=\w)[;?!](?!\w)| [:;?!»]|« " if language == "fr" else r"\s[:;?!](?=\s|$)"
        assert not re.search(wrong, made), made


def glossary(language: str) -> dict[str, list[str]]:
    columns = [
        line[half] for line in GLOSSARY.findall(catalogs.catalog(language).header) for half in (slice(2), slice(2, 4))
    ]
    return {english: other.split(", ") for english, other in columns if english}


@each_language
def test_each_word_of_the_design_has_one_translation(language: str) -> None:
    """The head of each catalog is a glossary, and sentences keep to it."""
    words = glossary(language)
    assert OF_DESIGN - words.keys() == set()
    for text, made in forms(language):
        for english in ALWAYS:
            if re.search(rf"\b{english}s?\b", PLACEHOLDER.sub("", text), re.IGNORECASE):
                assert any(word.casefold() in made.casefold() for word in words[english]), (english, made)


def test_pages_say_nothing_in_javascript_of_its_own() -> None:
    """A script has no catalog: what it says stands in the page, translated."""
    scripts = source.files(".js", under=source.PACKAGE)
    assert [path.name for path in scripts if re.search(r"\b(gettext|ngettext|interpolate)\(", path.read_text())] == []
