"""What the pages are made of: nothing that runs, no style inside, stored text escaped, whatever the site around it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import django
import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client, override_settings
from django.urls import path

import saga_app
from saga_app.admin import ExecutionAdmin, StuckExecutionAdmin
from saga_app.core import registry
from saga_app.core.verbs import VERBS
from saga_app.models import Execution, StuckExecution
from tests.doors import every_state
from tests.doors.confirm_page import USES, run_url, use, verb_url

TEMPLATES = sorted((Path(saga_app.__file__).parent / "templates").rglob("*.html"))
SCRIPTS = sorted((Path(saga_app.__file__).parent / "static").rglob("*.js"))
LISTS = ["/admin/saga_app/execution/", "/admin/saga_app/stuckexecution/"]
pytestmark = pytest.mark.django_db

own_site = admin.AdminSite(name="operators")
own_site.register(Execution, ExecutionAdmin)
own_site.register(StuckExecution, StuckExecutionAdmin)
urlpatterns = [path("admin/", admin.site.urls), path("ops/", own_site.urls)]


@pytest.fixture(autouse=True)
def own_sagas():
    with registry.isolate():
        yield


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root<img src=y>"))
    return client


class Parts(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.wrong: list[str] = []
        self.labels: set[str] = set()
        self.ids: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.tags.append(tag)
        self.ids += [values["id"] or ""] if "id" in values else []
        self.wrong += [f"{tag} {name}" for name in values if name == "style" or name.startswith("on")]
        self.wrong += [f"{tag} src=x"] if values.get("src") in ("x", "y") else []
        self.wrong += ["script inside the page"] if tag == "script" and "src" not in values else []
        self.wrong += ["style inside the page"] if tag == "style" else []
        self.wrong += ["javascript:"] if (values.get("href") or "").startswith("javascript:") else []


def wrong_in(response: Any) -> list[str]:
    page = response.content.decode()
    return Parts(page).wrong + (["49"] if ">49<" in page else [])


@pytest.mark.parametrize("state", every_state.STATES)
def test_stored_text_is_text_on_every_page(root: Client, state: str) -> None:
    """Inputs, outputs, errors, keys, reasons and names with markup in them; and nothing that a strict CSP forbids."""
    execution = every_state.make(state)
    everywhere = [*LISTS, run_url(execution), *(verb_url(execution, verb) for verb in VERBS)]
    assert {page: wrong_in(root.get(page)) for page in everywhere} == {page: [] for page in everywhere}


@pytest.mark.parametrize("verb", VERBS)
def test_what_operators_write_is_text(root: Client, verb: str) -> None:
    execution = every_state.make(USES[verb][0])
    answer = use(root, execution, verb, reason="<img src=x onerror=alert(1)>", **USES[verb][1])
    assert answer.status_code == 302
    assert wrong_in(root.get(run_url(execution), follow=True)) == []
    assert wrong_in(root.get(f"{run_url(execution)[:-7]}history/")) == []


def test_what_is_sent_back_is_text(root: Client) -> None:
    execution = every_state.make("stuck past the pivot")
    filled = {"reason": "<img src=x onerror=alert(1)>", "output": "</textarea><script>1</script>", "happened": "yes"}
    for values in (filled, {**filled, "output": "1", "version": "0"}, {**filled, "path": '"><img src=x>'}):
        assert wrong_in(use(root, execution, "skip", **values)) == []
    for query in ("?steps=<img src=x>", "?status=<img src=x>&q=<img src=x>", '?saga="><script>1</script>'):
        assert wrong_in(root.get(LISTS[0] + query)) == []
        assert wrong_in(root.get(run_url(execution) + query)) == []


def test_text_that_no_page_can_take_is_shown_as_escapes(root: Client) -> None:
    page = root.get(run_url(every_state.make("stuck going back"))).content.decode()
    assert "\x00" not in page
    assert "\\x00" in page or "\\u0000" in page


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_no_template_has_style_or_script(template: Path) -> None:
    text = template.read_text()
    assert re.findall(r"\sstyle\s*=|<style|<script(?! src=)|\son[a-z]+\s*=|javascript:|\|safe\b|autoescape", text) == []


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_no_script_makes_markup_of_text(script: Path) -> None:
    """Nor styles or code, which a strict policy forbids; nor does it ask anybody else's server."""
    text = script.read_text()
    assert (
        re.findall(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|\.style\b|new Function|//\w", text)
        == []
    )


def test_no_code_of_the_pages_trusts_text() -> None:
    home = Path(saga_app.__file__).parent
    code = [*(home / "admin").rglob("*.py"), *(home / "templatetags").rglob("*.py")]
    assert [path.name for path in code if re.search(r"mark_safe|SafeString\(|csrf_exempt", path.read_text())] == []


def test_ids_are_unique_and_headings_in_order(root: Client) -> None:
    execution = every_state.make("stuck going back")
    for page in (run_url(execution), verb_url(execution, "abandon")):
        parts = Parts(root.get(page).content.decode())
        assert sorted(parts.ids) == sorted(set(parts.ids))
        assert parts.tags.count("h1") == 1


def test_crumbs_are_those_of_this_django(root: Client) -> None:
    page = root.get(verb_url(every_state.make("stuck held"), "resume")).content.decode()
    assert ('<ol class="breadcrumbs">' in page) == (django.VERSION >= (6, 1))
    assert ('<div class="breadcrumbs">' in page) == (django.VERSION < (6, 1))


@override_settings(ROOT_URLCONF=__name__)
def test_an_admin_site_of_ones_own_keeps_to_itself(root: Client) -> None:
    execution = every_state.make("stuck going back")
    ours = f"/ops/saga_app/execution/{execution.pk}"
    for page in (
        "/ops/saga_app/execution/",
        "/ops/saga_app/stuckexecution/",
        f"{ours}/change/",
        f"{ours}/verb/resume/",
    ):
        text = root.get(page).content.decode()
        assert f"{ours}/change/" in text
        assert 'href="/admin/' not in text
    version = every_state.again(execution).version
    answer = root.post(f"{ours}/verb/resume/", {"version": version, "reason": ""})
    assert (answer.status_code, answer.url) == (302, f"{ours}/change/")
    assert root.get(f"/ops/saga_app/stuckexecution/{execution.pk}/change/").url == f"{ours}/change/"
    assert root.get("/ops/saga_app/execution/nonsense/change/").url == "/ops/saga_app/execution/"


@pytest.mark.parametrize("language", ["ar", "de", "ja"])
def test_pages_in_other_languages(root: Client, language: str) -> None:
    execution = every_state.make("stuck going back")
    for page in (*LISTS, run_url(execution), verb_url(execution, "abandon")):
        answer = root.get(page, headers={"accept-language": language})
        assert (answer.status_code, wrong_in(answer)) == (200, [])
        assert ('dir="rtl"' in answer.content.decode()) == (language == "ar")


@override_settings(USE_TZ=False, TIME_ZONE="Europe/Berlin", USE_THOUSAND_SEPARATOR=True)
def test_pages_of_a_site_without_time_zones(root: Client) -> None:
    execution = every_state.make("stuck going back")
    for page in (*LISTS, run_url(execution), verb_url(execution, "abandon")):
        assert root.get(page).status_code == 200
    assert use(root, execution, "abandon", reason="r").status_code == 302


def test_a_nonce_is_passed_on(root: Client) -> None:
    """django-csp puts it on the request, Django from 6.0 on in the context."""
    from django.template import Context, Template

    template = Template("{% load saga_app %}<link{% saga_nonce %}>")
    assert template.render(Context({})) == "<link>"
    assert template.render(Context({"csp_nonce": 'a"b'})) == '<link nonce="a&quot;b">'
