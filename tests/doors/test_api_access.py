"""Who may use which address: nobody by default, and one permission opens one door."""

from __future__ import annotations

import base64
from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from saga_app import Wait, testing
from saga_app.models import Event, Execution
from tests.doors import http
from tests.doors.http import ROOT, client, is_problem, one, post

pytestmark = pytest.mark.django_db

# address, method, the permission it wants, what it answers when all is well
ADDRESSES = [
    ("list", "get", "view", 200),
    ("start", "post", "start", 201),
    ("retrieve", "get", "view", 200),
    ("resume", "post", "resume", 200),
    ("abandon", "post", "abandon", 200),
    ("cancel", "post", "cancel", 200),
    ("signal", "post", "signal", 200),
    ("suspend", "post", "suspend", 409),
    ("unwind", "post", "unwind", 200),
    ("skip", "post", "skip", 200),
    ("resolve", "post", "resolve", 409),
    ("rerun", "post", "rerun", 409),
    ("fork", "post", "fork", 409),
    ("move", "post", "move", 409),
    ("approve", "post", "view", 409),
    ("reject", "post", "view", 409),
]
WORDS = [
    "view", "start", "resume", "abandon", "cancel", "suspend", "unwind", "skip", "resolve", "rerun", "signal", "fork",
    "move", "batch",
]  # fmt: skip
BODIES = {
    "signal": {"name": "go"},
    "skip": {"path": "fail", "happened": False},
    "resolve": {"path": "fail"},
    "fork": {"path": "fail"},
    "move": {"revision": 1},
    "approve": {"gate": "go"},
    "reject": {"gate": "go"},
}


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with testing.isolate_sagas():
        yield


@pytest.fixture
def execution() -> Execution:
    """One that is stuck, and whose gate, which it has not reached, a signal may already open."""
    http.buy()
    return http.stuck(Wait("go"))


def ask(by: Client, address: str, execution: Execution, method: str = ""):
    """A request that is right in every way but who sends it."""
    if address == "list":
        return getattr(by, method or "get")(ROOT)
    if address == "start":
        return post(by, ROOT, {"saga": "buy", "input": http.GIVEN})
    if address == "retrieve":
        return getattr(by, method or "get")(one(execution))
    if method == "get":
        return by.get(one(execution, address))
    body = {"reason": "because", **BODIES.get(address, {})}
    seen = {} if address in ("signal", "rerun", "fork") else {"version": execution.version}
    return post(by, one(execution, address), {**body, **seen})


@pytest.mark.parametrize(("address", "method", "word", "well"), ADDRESSES)
class TestEachAddress:
    def test_anonymous_requests_are_refused(self, address, method, word, well, execution):
        """Reads included; and nothing is changed."""
        before = unchanged()
        is_problem(ask(Client(), address, execution), 403, "not_authenticated")
        assert unchanged() == before

    def test_a_user_without_any_permission_is_refused(self, address, method, word, well, execution):
        before = unchanged()
        is_problem(ask(client(), address, execution), 403, "permission_denied")
        assert unchanged() == before

    def test_all_the_other_permissions_do_not_help(self, address, method, word, well, execution):
        before = unchanged()
        others = client(*[other for other in WORDS if other != word])
        is_problem(ask(others, address, execution), 403, "permission_denied")
        assert unchanged() == before

    def test_its_permission_is_enough(self, address, method, word, well, execution):
        assert ask(client(word), address, execution).status_code == well

    def test_an_inactive_user_is_nobody(self, address, method, word, well, execution):
        by = Client()
        who = http.user(word)
        by.force_login(who)
        who.is_active = False
        who.save()
        assert ask(by, address, execution).status_code == 403


def unchanged() -> tuple[object, ...]:
    rows = Execution.objects.order_by("pk").values_list("pk", "status", "version", "updated_at")
    return (*rows, Event.objects.count())


@pytest.mark.parametrize("verb", http.ALL_VERBS)
class TestAVerbByGet:
    def test_it_is_refused(self, verb, execution):
        """Nothing happens by following a link."""
        before = unchanged()
        response = client("view", *WORDS[1:]).get(one(execution, verb))
        problem = is_problem(response, 405, "method_not_allowed")
        assert "POST" in response["Allow"], problem
        assert unchanged() == before

    def test_the_verbs_permission_alone_does_not_even_say_so(self, verb, execution):
        by = client(verb) if verb not in ("approve", "reject") else client("batch")
        is_problem(by.get(one(execution, verb)), 403, "permission_denied")


@pytest.mark.parametrize("method", ["put", "patch", "delete", "options", "trace"])
@pytest.mark.parametrize("path", ["", "{id}/", "{id}/resume/"])
def test_other_methods_are_refused(method, path, execution):
    """An execution is not edited or deleted, not even by somebody who may do everything else."""
    before = unchanged()
    by = client(*WORDS)
    response = getattr(by, method)(ROOT + path.format(id=execution.pk))
    is_problem(response, 405, "method_not_allowed")
    assert unchanged() == before


def test_anonymous_is_refused_before_the_body_is_read():
    """Case C22."""
    for body in (b"{", b"null", b"\xff\xfe", b"[" * 100_000):
        is_problem(post(Client(), ROOT, body), 403, "not_authenticated")


def test_anonymous_learns_nothing_of_which_executions_there_are(execution):
    there, not_there = Client().get(one(execution)), Client().get(f"{ROOT}not-a-uuid/")
    assert there.json() == not_there.json()


def test_a_session_needs_its_csrf_token(execution):
    by = Client(enforce_csrf_checks=True)
    by.force_login(http.user("start"))
    is_problem(ask(by, "start", execution), 403, "permission_denied")


def test_basic_authentication_works_where_the_host_has_it(execution):
    http.user("view", name="ann")
    word = base64.b64encode(b"ann:secret").decode()
    assert Client().get(ROOT, headers={"Authorization": f"Basic {word}"}).status_code == 200
    is_problem(Client().get(ROOT, headers={"Authorization": "Basic %%%"}), 403, "authentication_failed")


class Machine:
    """A user without a row: what token authentication without a database gives."""

    pk = "m-1"
    is_authenticated = is_active = True

    def get_username(self) -> str:
        return "billing"

    def has_perm(self, _word: str) -> bool:
        return True


def test_a_user_without_a_row_is_in_the_history_by_name(execution):
    by = APIClient()
    by.force_authenticate(user=Machine())
    body = {"version": execution.version, "reason": "because"}
    assert by.post(one(execution, "resume"), body, format="json").status_code == 200
    event = Event.objects.get(execution=execution, type="resume")
    assert (event.actor, event.actor_name) == (None, "billing")


def test_the_superuser_may(execution, django_user_model):
    by = Client()
    by.force_login(django_user_model.objects.create_superuser("root"))
    assert by.get(ROOT).status_code == 200


def test_the_addresses_have_names():
    """A host links to them, wherever it has mounted them."""
    pk = "01890a5d-ac96-774b-bcce-b302099a8057"
    assert reverse("saga_api:execution-list") == ROOT
    assert reverse("saga_api:execution-detail", args=[pk]) == f"{ROOT}{pk}/"
    assert reverse("saga_api:execution-abandon", args=[pk]) == f"{ROOT}{pk}/abandon/"
