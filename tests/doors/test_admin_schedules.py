"""Schedules on the page of their saga: made, shown, paused, deleted; by whom; and what django-q2 makes of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django_q.models import Schedule, Task

from saga_app import Saga, clock
from saga_app.core import registry
from saga_app.models import Execution
from saga_app.queue import schedules
from tests.doors import every_state
from tests.doors.test_admin_markup import wrong_in
from tests.doors.test_admin_pages import text_of
from tests.doors.test_admin_permissions import somebody
from tests.doors.test_admin_sagas import Order, order, page_of
from tests.doors.test_admin_starting import send

pytestmark = pytest.mark.django_db
ADD = page_of("place-order", "schedule/")
FIRST = datetime(2999, 3, 1, 2, 0, tzinfo=UTC)
FILLED = {"value_sku": "A1", "value_qty": "2"}


@pytest.fixture(autouse=True)
def own_sagas():
    with registry.isolate():
        yield


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    return client


def planned(**timing: Any) -> schedules.Planned:
    made = {"kind": Schedule.DAILY, "first": FIRST, **timing}
    return schedules.add(order(), Order("A1", 2).__dict__, schedules.Timing(**made), name="nightly")


def act_url(one: schedules.Planned, act: str) -> str:
    return page_of("place-order", f"schedule/{one.row.pk}/{act}/")


def hidden(page: Any) -> dict[str, str]:
    form = page.context["form"]
    return {field.html_name: field.value() for field in form.hidden_fields()}


class TestMaking:
    def test_one_is_made_and_shown(self, root: Client) -> None:
        order()
        answer = send(root, ADD, name="nightly", kind="D", first="2999-03-01T02:00", repeats="3", **FILLED)
        assert answer.url == page_of("place-order")
        row = Schedule.objects.get()
        assert (row.schedule_type, row.repeats, row.next_run, row.func) == ("D", 3, FIRST, schedules.FUNCTION)
        page = text_of(root.get(answer.url)).partition("Schedules")[2]
        assert "nightly Daily 3 times 2999-03-01 02:00:00 Pause… Delete… show them sku: A1, qty: 2" in page
        entry = LogEntry.objects.get()
        assert (entry.action_flag, entry.object_id, entry.user.username) == (ADDITION, str(row.pk), "root")
        assert "test_admin_sagas 1 0 1" in text_of(root.get("/admin/saga_app/sagaversion/"))

    def test_a_second_click_makes_nothing(self, root: Client) -> None:
        order()
        filled = {**hidden(root.get(ADD)), "kind": "D", "value-sku": "A1", "value-qty": "2"}
        filled |= {"value-price": "1", "value-gift": "false"}
        for _ in range(2):
            assert root.post(ADD, filled).status_code == 302
        assert Schedule.objects.count() == 1

    @pytest.mark.parametrize(
        ("filled", "every"),
        [
            ({"kind": "I", "minutes": "1"}, "every minute"),
            ({"kind": "I", "minutes": "15"}, "every 15 minutes"),
            ({"kind": "H", "minutes": "15"}, "Hourly"),
            ({"kind": "W"}, "Weekly"),
            ({"kind": "M"}, "Monthly"),
        ],
    )
    def test_each_kind(self, root: Client, filled: dict[str, str], every: str) -> None:
        order()
        send(root, ADD, **filled, **FILLED)
        assert f"{every} without end" in text_of(root.get(page_of("place-order")))

    def test_cron_is_offered_where_its_library_is(self, root: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        order()
        assert "cron" not in root.get(ADD).context["form"].fields
        monkeypatch.setattr(schedules, "croniter", object())
        assert "cron" in root.get(ADD).context["form"].fields
        answer = send(root, ADD, kind="C", **FILLED)
        assert answer.context["form"].errors.keys() == {"cron"}

    @pytest.mark.parametrize(
        ("filled", "field"),
        [
            ({"kind": ""}, "kind"),
            ({"kind": "C"}, "kind"),
            ({"kind": "O"}, "kind"),
            ({"kind": "I", "minutes": ""}, "minutes"),
            ({"kind": "I", "minutes": "0"}, "minutes"),
            ({"kind": "I", "minutes": "99999"}, "minutes"),
            ({"kind": "D", "repeats": "0"}, "repeats"),
            ({"kind": "D", "repeats": "-2"}, "repeats"),
            ({"kind": "D", "repeats": "9" * 20}, "repeats"),
            ({"kind": "D", "first": "soon"}, "first"),
            ({"kind": "I", "minutes": "5", "first": "2025-03-01T02:00"}, "first"),
            ({"kind": "D", "name": "x" * 101}, "name"),
        ],
    )
    def test_what_does_not_fit_is_said_at_its_field(self, root: Client, filled: dict[str, str], field: str) -> None:
        order()
        answer = send(root, ADD, **{**FILLED, **filled})
        assert answer.status_code == 200
        assert field in answer.context["form"].errors
        assert not Schedule.objects.exists()

    def test_its_input_is_the_sagas(self, root: Client) -> None:
        order()
        answer = send(root, ADD, kind="D", value_sku="A1", value_qty="many")
        assert answer.context["form"].asked.errors.keys() == {"qty"}
        assert not Schedule.objects.exists()


class TestShowing:
    def test_stored_text_is_text(self, root: Client) -> None:
        order()
        hostile = every_state.HOSTILE.replace("\x00", "").replace("\ud800", "")
        send(root, ADD, kind="D", value_sku=hostile, value_qty="1", name="<img src=x>")
        assert Schedule.objects.exists()
        assert wrong_in(root.get(page_of("place-order"))) == []
        pk = Schedule.objects.latest("pk").pk
        assert wrong_in(root.get(page_of("place-order", f"schedule/{pk}/delete/"))) == []

    def test_one_that_could_not_start(self, root: Client) -> None:
        made = planned()
        now = clock.now()
        Task.objects.create(id="a" * 32, name="x", func="x", started=now, stopped=now, success=False)
        Schedule.objects.update(task="a" * 32)
        assert schedules.find("place-order", made.row.pk).failed
        assert "The last time it could not be started" in text_of(root.get(page_of("place-order")))

    def test_the_executions_that_it_started_are_found(self, root: Client) -> None:
        made = planned()
        for day in ("2026-03-01", "2026-03-02"):
            schedules.start_planned("place-order", made.text, made.mark, planned=f"{day}T02:00:00+00:00")
        order().start(Order("A1", 1))
        address = f"/admin/saga_app/execution/?q={schedules.prefix(made.mark)}"
        assert f'href="{address}"' in root.get(page_of("place-order")).content.decode()
        assert root.get(address).context["cl"].result_count == 2

    def test_a_schedule_of_a_saga_whose_code_is_gone(self, root: Client) -> None:
        with registry.isolate():
            made = planned()
        assert "place-order – not known to this process – 0 1" in text_of(root.get("/admin/saga_app/sagaversion/"))
        assert "nightly Daily" in text_of(root.get(page_of("place-order")))
        assert root.post(act_url(made, "delete")).status_code == 302
        assert not Schedule.objects.exists()


class TestActing:
    def test_pause_and_go_on(self, root: Client) -> None:
        made = planned(repeats=5)
        assert "It starts nothing until it goes on." in text_of(root.get(act_url(made, "pause")))
        assert root.post(act_url(made, "pause")).url == page_of("place-order")
        page = text_of(root.get(page_of("place-order")))
        assert "nightly Daily 5 times paused" in page
        assert "Go on… Delete…" in page
        root.post(act_url(made, "go-on"))
        assert "nightly Daily 5 times 2999-03-01 02:00:00" in text_of(root.get(page_of("place-order")))
        assert [entry.change_message for entry in LogEntry.objects.order_by("id")] == ["pause", "go-on"]
        assert set(LogEntry.objects.values_list("action_flag", flat=True)) == {CHANGE}

    def test_delete_asks_first_and_is_on_record(self, root: Client) -> None:
        made = planned()
        assert "starts nothing any more" in text_of(root.get(act_url(made, "delete")))
        assert Schedule.objects.exists()
        root.post(act_url(made, "delete"))
        assert not Schedule.objects.exists()
        assert LogEntry.objects.get().action_flag == DELETION

    def test_twice_is_said(self, root: Client) -> None:
        made = planned()
        root.post(act_url(made, "pause"))
        answer = root.post(act_url(made, "pause"))
        assert (answer.status_code, "This cannot be done now." in answer.content.decode()) == (409, True)
        root.post(act_url(made, "delete"))
        assert root.post(act_url(made, "delete")).status_code == 404

    @pytest.mark.parametrize("act", ["resume", "run", "__class__", "add"])
    def test_nothing_else_can_be_done(self, root: Client, act: str) -> None:
        assert root.post(act_url(planned(), act)).status_code == 404

    def test_only_through_its_own_saga_and_only_ours(self, root: Client) -> None:
        made = planned()
        Saga("other", every_state.act("a"))
        assert root.post(page_of("other", f"schedule/{made.row.pk}/delete/")).status_code == 404
        foreign = Schedule.objects.create(func="os.getpid", schedule_type="D")
        assert root.post(page_of("place-order", f"schedule/{foreign.pk}/delete/")).status_code == 404
        assert Schedule.objects.count() == 2


class TestWho:
    @pytest.mark.parametrize("permissions", [(), ("start",), ("view",), ("view", "resume")])
    def test_nobody_without_the_permission(self, permissions: tuple[str, ...]) -> None:
        made = planned()
        client = somebody(*(f"{word}_execution" for word in permissions))
        filled = {"kind": "D", "value-sku": "A1", "value-qty": "2", "value-price": "1", "value-gift": "true"}
        filled["mark"] = "0123456789ab"
        for url in (ADD, *(act_url(made, act) for act in ("pause", "go-on", "delete"))):
            assert client.get(url).status_code == client.post(url, filled).status_code == 403
        assert list(Schedule.objects.values_list("repeats", flat=True)) == [-1]

    def test_a_viewer_sees_them_and_no_button(self) -> None:
        planned()
        page = text_of(somebody("view_execution").get(page_of("place-order")))
        assert ("nightly" in page, "Pause…" in page, "Schedule…" in page) == (True, False, False)

    def test_with_the_permission_alone(self) -> None:
        client = somebody("view_execution", "start_execution")
        order()
        assert send(client, ADD, kind="D", **FILLED).status_code == 302
        assert client.post(act_url(schedules.planned()[0], "pause")).status_code == 302

    @pytest.mark.parametrize("method", ["get", "head", "options", "put", "delete"])
    def test_nothing_but_a_post_changes_anything(self, root: Client, method: str) -> None:
        made = planned()
        before = list(Schedule.objects.values())
        for url in (ADD, *(act_url(made, act) for act in ("pause", "go-on", "delete"))):
            getattr(root, method)(f"{url}?kind=D&value-sku=A1&value-qty=2&value-price=1&value-gift=true")
        assert list(Schedule.objects.values()) == before
        assert not Execution.objects.exists()


def test_the_next_time_is_shown_in_the_readers_zone(root: Client, settings: Any) -> None:
    settings.TIME_ZONE = "Europe/Berlin"
    order()
    send(root, ADD, kind="D", first="2999-03-01T02:00", **FILLED)
    assert Schedule.objects.get().next_run == FIRST - timedelta(hours=1)
    assert "2999-03-01 02:00:00" in text_of(root.get(page_of("place-order")))
