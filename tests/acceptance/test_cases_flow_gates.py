"""Cases about waits: a signal against its timeout, clock changes, cancel of what rests, and approvals clicked twice."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.test import override_settings

from saga_app import Approval, Backoff, DefinitionError, Parallel, Saga, Sleep, UnsupportedValue, Wait
from saga_app.models import Execution
from tests.harness import (
    CANCELLED,
    DONE,
    NOTHING_OWED,
    calls,
    clear,
    clock,
    do,
    end,
    fail,
    hang,
    held,
    now,
    ok,
    order,
    race,
    rec,
    rows_of,
    run,
    seen,
    settle,
    told,
    waiting_at,
    why,
    work,
    working,
)


def may(codename: str) -> Any:
    """A user with that permission of the shop."""
    user = get_user_model().objects.create_user(username=codename)
    kind, _ = ContentType.objects.get_or_create(app_label="shop", model="order")
    right, _ = Permission.objects.get_or_create(codename=codename, content_type=kind, defaults={"name": codename})
    user.user_permissions.add(right)
    return user


def test_c07_operator_or_approver_clicks_twice() -> None:
    """Case C07. One winner under the row lock. An approval answers one gate; resume repeats the failed step only."""
    editor, publisher = may("edit"), may("publish")
    first, second = Approval("l1", permission="shop.edit"), Approval("l2", permission="shop.publish")
    group = Parallel(do("a"), do("b", fail(OSError), ok()))
    x = Saga("pub", group, first, second, do("go"), on_failure="hold").start()
    work(2)
    assert end(x) == held("step_failed")
    v = now(x).version
    assert race(*[lambda: told(x.resume, version=v)] * 2).count("") == 1
    work(2)
    assert calls("a") == 1 and calls("b") == 2 and waiting_at(x) == "l1" and now(x).resume_count == 1
    race(*[lambda: told(x.approve, "l1", actor=editor, key="k")] * 2)
    work()
    assert waiting_at(x) == "l2" and calls("go") == 0
    assert told(x.approve, "l2", actor=editor) != "" and waiting_at(x) == "l2"
    x.approve("l2", actor=publisher)
    work()
    assert end(x) == DONE and calls("go") == 1


def two_gates() -> Saga[Any]:
    first = Wait("ok", timeout=1, on_timeout=[do("late")]).named("first")
    return Saga("x", first, do("use"), Wait("ok", timeout=100).named("second"), do("end"))


@pytest.mark.parametrize("ms", [-20, -1, 0, 1, 20])
def test_c37_a_signal_and_a_timeout_at_the_same_moment(ms: int) -> None:
    """Case C37. One winner, by when it was received; the old deadline means nothing to the next gate."""
    t = datetime(2024, 5, 1, tzinfo=UTC)
    clock.set(t)
    x = two_gates().start()
    work()
    assert waiting_at(x) == "first"
    clock.set(t + timedelta(seconds=1, milliseconds=ms))
    code = told(x.signal, "ok", "A")
    clock.forward(3)
    work()
    assert calls("use") == 1
    if ms <= 0:
        assert code == "" and rec(x, "first").output == "A" and calls("late") == 0 and waiting_at(x) == "second"
        clock.forward(3)
        work()
        assert waiting_at(x) == "second"
    else:
        assert calls("late") == 1 and (waiting_at(x) == "second" if code else end(x) == DONE)
    if now(x).status == "waiting":
        x.signal("ok", "B")
        work()
    assert end(x) == DONE and calls("end") == 1 and rec(x, "second").output in {"A", "B"}


def test_c37_the_timer_is_driven_as_the_signal_comes() -> None:
    """Case C37. Either the gate was opened or its time was up: never both, never neither."""
    s = two_gates()
    for _ in range(20):
        clear()
        x = s.start()
        work()
        clock.forward(1)
        race(work, lambda x=x: told(x.signal, "ok", "A"))
        work()
        assert calls("use") == 1 and (calls("late") == 1) != (rec(x, "first").output == "A")


def test_c37_a_signal_does_not_wait_for_the_timer() -> None:
    """Case C37. It goes on at once, not after seven days. No time at all is refused when it is written."""
    y = run(Saga("y", Wait("ok", timeout=7 * 86_400)))
    y.signal("ok", 1)
    work()
    assert end(y) == DONE
    for n in (0, -5):
        with suppress(DefinitionError):
            z = run(Saga("z", Wait("ok", timeout=n)))
            assert end(z) == NOTHING_OWED and "ok" in why(z)


def test_c38_a_day_across_a_clock_change() -> None:
    """Case C38. "Every day at 6" and "in 24 hours": durations are real seconds, a naive moment is in our zone."""
    with override_settings(TIME_ZONE="Europe/Berlin", USE_TZ=True):
        clock.set(datetime(2024, 3, 30, 11, tzinfo=UTC))  # 12:00 in Berlin
        x = run(Saga("d", Sleep(timedelta(days=1))))
        assert now(x).due_at == datetime(2024, 3, 31, 11, tzinfo=UTC)  # 13:00, summer time
        x = run(Saga("w", Sleep(until=datetime(2024, 3, 31, 2, 30))))  # noqa: DTZ001
        assert now(x).due_at == datetime(2024, 3, 31, 1, 30, tzinfo=UTC)  # read as 03:30
        clock.set(datetime(2024, 10, 26, 12, tzinfo=UTC))
        x = run(Saga("v", Sleep(until=datetime(2024, 10, 27, 2, 30)), do("a")))  # noqa: DTZ001
        for _ in range(48):
            clock.forward(1800)
            work()
        assert end(x) == DONE and calls("a") == 1


def test_c38_without_time_zones() -> None:
    """Case C38. With USE_TZ=False nothing is hours off."""
    with override_settings(TIME_ZONE="America/Bogota", USE_TZ=False):
        clock.set(datetime(2024, 6, 1, 19, tzinfo=UTC))
        again = do("a", fail(OSError), ok(), attempts=2, backoff=Backoff(first=30, jitter=0))
        x = run(Saga("n", Sleep(60), again))
        clock.forward(61)
        work()
        assert calls("a") == 1
        clock.forward(31)
        work()
        assert end(x) == DONE and calls("a") == 2


@pytest.mark.parametrize("mid", [lambda: Sleep(3600), lambda: Wait("ok")], ids=["sleep", "wait"])
def test_c40_cancel_while_it_sleeps_or_waits(mid: Callable[[], Any]) -> None:
    """Case C40. Honoured at once, since nothing runs; the unwind is not cancelled by it; nothing wakes it again."""
    x = run(Saga("x", do("a", comp=[hang(1) >> ok()]), mid(), do("down")))
    assert now(x).status == "waiting"
    with working(1):
        assert told(x.cancel, reason="replaced") == ""
        told(x.cancel)
        settle()
    assert end(x) == CANCELLED and order()[-1] == "~a" and calls("~a") == 1 and calls("down") == 0
    before = rows_of(x)
    clock.forward(2 * 86_400)
    work()
    assert rows_of(x) == before
    assert told(x.signal, "ok", 1) != "" and told(x.cancel) != ""


@pytest.mark.parametrize("bad", ["a\x00b", "\x00", "x" * 9_000 + "\x00"], ids=["middle", "alone", "long"])
def test_c34_a_nul_byte_in_a_signal(bad: str) -> None:
    """Case C34. It survives exactly, as in any other value."""
    v = {"k" + bad: [bad]}
    y = run(Saga("z", Wait("go"), do("b", takes="go")))
    y.signal("go", v)
    work()
    assert end(y) == DONE and seen("b")[0]["go"] == v


def test_c35_a_signal_brings_far_too_much() -> None:
    """Case C35. Refused at the door; the gate stays closed, and a smaller one opens it."""
    y = run(Saga("w", Wait("go")))
    with pytest.raises(UnsupportedValue):
        y.signal("go", "x" * 30 * 2**20)
    assert waiting_at(y) == "go" and Execution.objects.get(pk=y.pk).unread == 0
    y.signal("go", "x")
    work()
    assert end(y) == DONE
