"""The list of approvals: whose they are, what one decides about, and that nobody is shown what they may not decide."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from saga_app import Approval, Child, ForEach, Saga, Wait, testing
from saga_app.admin import approvals
from saga_app.core import registry
from saga_app.models import Execution, WaitingApproval
from tests.doors import every_state
from tests.doors.confirm_page import hidden_fields, run_url, verb_url
from tests.doors.test_admin_markup import wrong_in
from tests.doors.test_admin_pages import text_of
from tests.doors.test_admin_permissions import somebody

pytestmark = pytest.mark.django_db
LIST = "/admin/saga_app/waitingapproval/"
MAY = "saga_app.rerun_execution"


@pytest.fixture(autouse=True)
def own_sagas():
    with registry.isolate():
        yield
    testing.clock.release()


@pytest.fixture
def boss() -> User:
    """Somebody who may view, and decide where MAY is asked for."""
    user = User.objects.create_user("boss", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=["view_execution", "rerun_execution"]))
    return user


@pytest.fixture
def client(boss: User, client: Client) -> Client:
    client.force_login(boss)
    return client


def gated(*nodes: Any, name: str = "gated", actor: Any = None, note: str = "n", **options: Any) -> Execution:
    nodes = nodes or (Approval("ok", permission=MAY),)
    saga = Saga(name, every_state.act("first", undo=False), *nodes, **options)
    return testing.run(saga, note=note, actor=actor)


def mine(user: User) -> list[str]:
    return [row.path for row in approvals.waiting_for(user)]


def listed(response: Any) -> list[str]:
    return [row.path for row in response.context["cl"].result_list]


class TestWhose:
    def test_those_that_i_may_decide_come_first_all_on_request(self, client: Client, boss: User) -> None:
        gated()
        gated(Approval("other", permission="saga_app.move_execution"), name="another")
        assert listed(client.get(LIST)) == ["ok"]
        everything = text_of(client.get(LIST, {"whose": "all"}))
        assert "You do not have the permission “saga_app.move_execution”." in everything
        assert everything.count("Approve…") == 1
        assert (mine(boss), approvals.count_for(boss)) == (["ok"], 1)

    def test_whoever_may_everything_has_all(self) -> None:
        gated(Approval("a", permission="shop.nothing"))
        gated(Approval("b", allow=lambda actor: actor.is_staff), name="another")
        assert sorted(mine(User.objects.create_superuser("root"))) == ["a", "b"]

    def test_not_the_one_who_started_it(self, client: Client, boss: User) -> None:
        gated(Approval("ok", permission=MAY, four_eyes=True), actor=boss)
        gated(Approval("ok", permission=MAY, four_eyes=True), actor=User.objects.create_user("x"))
        assert approvals.count_for(boss) == 1
        page = text_of(client.get(LIST, {"whose": "all"}))
        assert "You started this, so somebody else has to decide at “ok”." in page
        assert page.count("Approve…") == 1
        assert "somebody else than who started it" in page

    def test_not_the_one_who_started_the_parent(self, boss: User) -> None:
        gate = Saga("kid", Approval("ok", permission=MAY, four_eyes=True))
        saga = Saga("parent", Child(Saga("middle", Child(gate))))
        testing.run(saga, actor=boss)
        assert mine(boss) == []
        assert mine(User.objects.create_superuser("root")) == ["ok"]

    def test_what_is_decided_waits_for_nobody(self, boss: User) -> None:
        """Before a worker has read it, too."""
        execution = gated()
        execution.approve("ok", actor=boss)
        assert WaitingApproval.objects.filter(kind="approval", status="waiting").count() == 1
        assert (mine(boss), list(approvals.open_approvals(boss))) == ([], [])

    def test_what_is_too_late_waits_for_nobody(self, client: Client, boss: User) -> None:
        gated(Approval("ok", permission=MAY, timeout=60))
        assert mine(boss) == ["ok"]
        testing.clock.forward(61)
        assert mine(boss) == []
        assert "Its time is up." in text_of(client.get(LIST, {"whose": "all"}))

    def test_what_has_ended_waits_for_nobody(self, boss: User) -> None:
        execution = gated()
        execution.cancel(actor=boss, reason="r")
        testing.drain()
        assert list(approvals.open_approvals(boss)) == []

    def test_a_saga_that_is_not_known_here(self, client: Client, boss: User) -> None:
        with registry.isolate():
            gated()
        assert mine(boss) == []
        page = text_of(client.get(LIST, {"whose": "all"}))
        assert "This process knows no such saga and revision" in page
        assert "Approve…" not in page

    def test_each_turn_of_a_loop(self, client: Client, boss: User) -> None:
        execution = gated(ForEach("n", lambda: [1, 2], Approval("ok", permission=MAY), concurrency=2))
        assert mine(boss) == ["n[0]/ok", "n[1]/ok"]
        page = client.get(LIST).content.decode()
        assert f"{verb_url(execution, 'approve')}?gate=n%5B1%5D%2Fok" in page
        answer = client.get(verb_url(execution, "approve"), {"gate": "n[1]/ok"})
        assert client.post(verb_url(execution, "approve"), hidden_fields(answer)).status_code == 302
        assert mine(boss) == ["n[0]/ok"]

    def test_no_other_gate(self, boss: User) -> None:
        gated(Wait("ok"))
        assert list(approvals.open_approvals(boss)) == []


class TestTheList:
    def test_what_one_decides_about(self, client: Client) -> None:
        execution = gated(Approval("ok", permission=MAY, timeout=3600), title="Pay it", note="a <b>note</b>")
        page = text_of(client.get(LIST))
        key = f"…{str(execution.pk)[-12:]}"
        assert f"ok Pay it gated {key} Approve… Reject… note: a <b>note</b>" in page
        assert MAY in page
        assert f'href="{run_url(execution)}"' in client.get(LIST).content.decode()

    def test_whose_time_ends_first_comes_first(self, boss: User) -> None:
        for name, timeout in (("late", 900), ("never", None), ("soon", 60)):
            gated(Approval(name, permission=MAY, timeout=timeout), name=name)
        assert mine(boss) == ["soon", "late", "never"]

    def test_by_saga(self, client: Client) -> None:
        gated(Approval("a", permission=MAY), name="one")
        gated(Approval("b", permission=MAY), name="two")
        assert listed(client.get(LIST, {"saga": "two"})) == ["b"]
        assert listed(client.get(LIST)) == ["a", "b"]

    def test_nothing_to_decide_is_said(self, client: Client) -> None:
        assert "Nothing waits for you." in text_of(client.get(LIST))
        assert "No approval is open." in text_of(client.get(LIST, {"whose": "all"}))

    def test_stored_text_is_text(self, client: Client) -> None:
        gated(note=every_state.HOSTILE, title="<img src=x onerror=alert(1)>")
        assert wrong_in(client.get(LIST)) == []

    def test_what_is_to_be_hidden_is(self, client: Client, settings: Any) -> None:
        settings.SAGA = {"REDACT": ["note"]}
        gated(note="4111-1111")
        assert "4111" not in client.get(LIST).content.decode()

    def test_as_many_queries_for_many_rows(self, client: Client) -> None:
        def asked() -> int:
            with CaptureQueriesContext(connection) as captured:
                assert client.get(LIST).status_code == 200
            return len(captured)

        gated()
        one = asked()
        for _ in range(12):
            gated()
        assert asked() == one <= 12

    def test_two_queries_tell_how_many(self, boss: User, django_assert_max_num_queries: Any) -> None:
        for number in range(4):
            gated(name=f"s{number}")
        user = User.objects.get(pk=boss.pk)
        user.has_perm(MAY)  # once for each request
        with django_assert_max_num_queries(2):
            assert approvals.count_for(user) == 4

    def test_an_address_that_means_nothing(self, client: Client) -> None:
        gated()
        for query in ({"whose": "x"}, {"saga": "<img src=x>"}, {"p": "99"}, {"execution__key": "1"}, {"o": "9"}):
            response = client.get(LIST, query, follow=True)
            assert (response.status_code, wrong_in(response)) in ((200, []), (400, []))

    @pytest.mark.parametrize("value", ["nonsense", "\x00", "%", "9" * 400])
    def test_a_value_that_is_no_choice_finds_nothing(self, client: Client, value: str) -> None:
        """No error page, whatever somebody writes into an address."""
        gated()
        assert listed(client.get(LIST, {"saga": "gated"})) == ["ok"]
        assert listed(client.get(LIST, {"saga": value})) == []
        assert listed(client.get(LIST, {"whose": value})) == ["ok"]


class TestWho:
    @pytest.mark.parametrize(("permissions", "status"), [((), 403), (("resume",), 403), (("view",), 200)])
    def test_pages_are_for_those_who_may_view(self, permissions: tuple[str, ...], status: int) -> None:
        gated()
        client = somebody(*(f"{word}_execution" for word in permissions))
        row = WaitingApproval.objects.filter(kind="approval").get()
        assert client.get(LIST).status_code == status
        assert client.get(f"{LIST}{row.pk}/change/").status_code == (302 if status == 200 else 403)
        assert Client().get(LIST).status_code == 302

    def test_a_viewer_sees_what_is_open_and_no_button(self) -> None:
        gated()
        client = somebody("view_execution")
        assert "Nothing waits for you." in text_of(client.get(LIST))
        page = text_of(client.get(LIST, {"whose": "all"}))
        assert ("Approve…" in page, f"“{MAY}”" in page) == (False, True)

    def test_nobody_changes_anything_there(self, client: Client, boss: User) -> None:
        execution = gated()
        row = approvals.waiting_for(boss).get()
        client.post(LIST, {"action": "delete_selected", "_selected_action": [row.pk], "post": "yes"})
        assert client.post(f"{LIST}{row.pk}/delete/", {"post": "yes"}).status_code == 403
        assert client.post(f"{LIST}add/").status_code == 403
        assert client.get(f"{LIST}{row.pk}/change/").url == run_url(execution)
        assert client.get(f"{LIST}999999/change/").url == LIST
        assert client.get(f"{LIST}x/change/").url == LIST
        assert mine(boss) == ["ok"]
