"""The console in other languages: nothing stays English, counts and numbers are right, and so is the direction."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polib
import pytest
from django.db.models import F
from django.test import Client, override_settings
from django.utils import translation
from django.utils.translation import gettext, ngettext, pgettext
from django_q.models import Schedule

from saga_app import messages
from saga_app.core import registry
from saga_app.core.failures import readable
from saga_app.models import Execution, SagaVersion, StepRecord
from tests import catalogs
from tests.doors import every_state
from tests.doors import world as worlds
from tests.doors.addresses import addresses
from tests.doors.brackets import RIGHT_TO_LEFT, in_brackets
from tests.doors.wording import said, untranslated
from tests.doors.world import World

pytestmark = pytest.mark.django_db
WORD = re.compile(r"[A-Za-z]{3,}")
SHORT = 12  # characters: shorter texts may be words of what is stored, or of another language
PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]|%[a-z%]|\{\w*\}|<[^>]*>")
OUR_PICTURE = re.compile(r'<svg class="saga-')
LEFT_TO_RIGHT = re.compile(r'<svg class="saga-[^>]*direction="ltr"')
FOR_PEOPLE = re.compile(r'\b(?:title|aria-label|alt|placeholder)="[^"]*"')
SAME_IN_ALL = {"JSON", "Search", "- Select an option -"}  # a name; and texts of Django's that its Hebrew does not have
SAME = {"Clef"}  # django-q2's spelling of our word

each_language = pytest.mark.parametrize("language", catalogs.LANGUAGES)


@pytest.fixture(autouse=True)
def own_sagas():
    with registry.isolate():
        yield


@pytest.fixture
def world() -> World:
    return worlds.make()


def pages(world: World, language: str) -> dict[str, str]:
    """Every page of the console in that language, by address; the log that Django keeps is Django's."""
    root = Client(headers={"accept-language": language})
    root.force_login(world.operator)
    made = {page.url: root.get(page.url) for page in addresses(world) if page.kind != "history"}
    return {url: answer.content.decode() for url, answer in made.items() if is_page(answer)}


def is_page(answer: Any) -> bool:
    return answer.status_code == 200 and answer["Content-Type"].startswith("text/html")


@pytest.fixture
def brackets(tmp_path: Path):
    with in_brackets(tmp_path):
        yield


def test_every_text_can_be_translated(brackets: None) -> None:
    """What people read on a page comes out of a catalog; what was stored stands in elements that say so.

    Such a page is read from right to left: it says so once, for all of it, and pictures keep their direction.
    """
    shown = pages(worlds.make(every_state.STATES), RIGHT_TO_LEFT)
    names = [*map(str, Execution.objects.all()), *SagaVersion.objects.values_list("saga", flat=True)]
    names += [readable(name) for name in names]
    names += StepRecord.objects.values_list("path", flat=True)
    names += [str(word) for _, word in Schedule.TYPE]  # django-q2 translates its own words, where it can
    left = [(url, line) for url, html in shown.items() for line in untranslated(html) if line not in SAME_IN_ALL]
    assert [(url, line) for url, line in left if WORD.search(without(line, names))] == []
    assert [url for url, html in shown.items() if '<html lang="he" dir="rtl"' not in html] == []
    assert [url for url, html in shown.items() if OUR_PICTURE.search(html) and not LEFT_TO_RIGHT.search(html)] == []


def without(line: str, names: list[str]) -> str:
    """Without the names of executions and sagas, which choices and crumbs have."""
    for name in sorted(names, key=len, reverse=True):
        line = line.replace(" ".join(name.split()), "")
    return line


def test_no_page_has_a_text_in_english(world: World) -> None:
    """No text of ours longer than a few words' length appears on any page as English says it."""
    for language in catalogs.LANGUAGES:
        pieces = english(language)
        assert len(pieces) > 200
        for url, html in pages(world, language).items():
            text = " ".join(said(html).split())
            assert f'<html lang="{language}" dir="ltr"' in html, url
            assert [piece for piece in pieces if piece in text] == [], (language, url)


def english(language: str) -> list[str]:
    """The texts, and the parts between their placeholders, that a translation does not have too."""
    texts = [text for entry in catalogs.catalog(language) for text in (entry.msgid, entry.msgid_plural) if text]
    translated = " ".join(text for entry in catalogs.catalog(language) for text in forms(entry))
    pieces = {piece.strip() for text in texts for piece in PLACEHOLDER.split(text)}
    return [piece for piece in pieces if len(piece) > SHORT and piece not in translated]


def forms(entry: polib.POEntry) -> list[str]:
    return list(entry.msgstr_plural.values()) if entry.msgid_plural else [entry.msgstr]


@each_language
def test_django_says_what_our_catalog_says(language: str) -> None:
    """All apps share one catalog, and the first app wins: no text of ours means something else to another app."""
    with translation.override(language):
        other = {entry.msgid: now(entry) for entry in catalogs.catalog(language) if now(entry) != forms(entry)[-1]}
    assert {text: said for text, said in other.items() if said not in SAME} == {}


def now(entry: polib.POEntry) -> str:
    """What Django makes of it: of a plural the form for two."""
    if entry.msgid_plural:
        return ngettext(entry.msgid, entry.msgid_plural, 2)
    return pgettext(entry.msgctxt, entry.msgid) if entry.msgctxt else gettext(entry.msgid)


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("en", ["0 steps by hand", "1 step by hand", "2 steps by hand"]),
        ("de", ["0 Schritte von Hand", "1 Schritt von Hand", "2 Schritte von Hand"]),
        ("fr", ["0 étape à la main", "1 étape à la main", "2 étapes à la main"]),
    ],
)
def test_counts(language: str, forms: list[str]) -> None:
    """Each language counts in its own way: French has one form for nothing and for one."""
    with translation.override(language):
        assert [messages.by_hand(count) for count in range(3)] == forms


def test_what_a_sentence_is_made_of_is_translated_too() -> None:
    """A code inside a sentence is a word there."""
    with translation.override("de"):
        decided = messages.sentence("decided", {"gate": "boss", "verdict": "approved"})
        first = messages.sentence("version_changed", {"by": "Ada", "verb": "resume", "seconds": 90})
    assert decided == "Über „boss“ ist bereits entschieden: freigegeben."
    assert first.startswith("Ada war schneller: fortsetzen, vor 1 Min.")


@override_settings(USE_THOUSAND_SEPARATOR=True, FORMAT_MODULE_PATH=["tests.site.formats"])
def test_numbers_for_programs_are_not_written_for_people(world: World) -> None:
    """Addresses, form values and drawings are the same in every language: here each digit is set apart."""
    Execution.objects.update(version=F("version") + 1000, next_seq=1000, resume_count=12)
    StepRecord.objects.update(seq=F("seq") + 1000)
    for url, html in pages(world, "de").items():
        tags = re.findall(r"<[a-z][^>]*>", html)
        assert [tag for tag in tags if re.search(r"\d~\d", FOR_PEOPLE.sub("", tag))] == [], url
