"""Signals at the door: stored under the row lock, counted, read once, in order; and what is refused there."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from saga_app import ForEach, InputError, Saga, UnsupportedValue, VerbRefused, Wait, engine, executor, ref, step
from saga_app.core import registry
from saga_app.models import Event, Signal
from saga_app.queue import inline
from saga_app.store import signals as store
from tests.store.conftest import claimed, failing_commit, now, told, values, waiting
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)


# at the door


def test_a_signal_is_stored_counted_and_wakes() -> None:
    """Design §7.4. One transaction: the row, the count, the wake, the due time, and the line of history."""
    x = waiting()
    assert (x.status, x.due_at) == ("waiting", None)
    before = values(x)
    after = engine.signal(x, "go", {"n": 1}, reason="why not")
    assert after.is_new
    changed = {name for name, value in values(x).items() if before[name] != value}
    assert changed == {"due_at", "wakes", "unread", "version", "updated_at"}
    (stored,) = Signal.objects.all()
    assert (stored.name, stored.payload, stored.consumed_by) == ("go", {"n": 1}, "")
    assert Event.objects.filter(execution=x, type="signal", reason="why not").count() == 1


def test_one_that_is_consumed_says_by_whom() -> None:
    """The payload is what the gate provides; the signal keeps the path of the record that took it."""
    x = waiting()
    x.signal("go", 7)
    x = inline.drive(x)
    assert (x.status, x.unread, x.steps.get(path="go").output) == ("completed", 0, 7)
    assert Signal.objects.get().consumed_by == "go"


def test_first_in_first_out_and_once() -> None:
    """Design §12. Two gates of one signal take two signals, in the order in which they came; the third stays."""
    x = Saga("w", Wait("go").named("one"), Wait("go").named("two")).start()
    for number in (1, 2, 3):
        x.signal("go", number)
    x = inline.drive(x)
    assert [x.steps.get(path=path).output for path in ("one", "two")] == [1, 2]
    assert (x.status, x.unread) == ("completed", 1)
    assert list(Signal.objects.values_list("consumed_by", flat=True)) == ["one", "two", ""]


def test_kept_from_the_start() -> None:
    """Design §12. What comes before its gate is reached waits for it."""
    x = Saga("w", step(name="a")(lambda: None), Wait("go")).start()
    x.signal("go", "early")
    assert inline.drive(x).status == "completed"


def test_the_same_key_again_is_the_same_signal() -> None:
    """The first one stays; it may come again when all is over, and under another name it is another."""
    x = Saga("w", Wait("go"), Wait("stop")).start()
    assert x.signal("go", 1, key="k").is_new
    assert not x.signal("go", 2, key="k").is_new
    assert x.signal("stop", 3, key="k").is_new
    x = inline.drive(x)
    assert x.status == "completed" and not x.signal("go", 4, key="k").is_new
    assert [one.payload for one in Signal.objects.order_by("id")] == [1, 3]


def test_eight_with_one_key_at_once() -> None:
    """One of them is stored, whoever is first."""
    x = waiting()
    made = at_once(*[lambda n=n: engine.signal(x.pk, "go", n, key="k").is_new for n in range(8)])
    assert made.count(True) == 1
    assert Signal.objects.count() == 1 and now(x).unread == 1


@pytest.mark.parametrize("stop", ["suspended", "stuck"])
def test_what_is_stopped_keeps_fact_and_count(stop: str) -> None:
    """Design §7.4. A signal to a suspended or stuck execution is stored, and does not make it due."""

    def fails() -> None:
        raise ValueError

    first = [step(name="a", attempts=1)(fails)] if stop == "stuck" else []
    x = inline.drive(Saga("w", *first, Wait("go"), on_failure="hold").start())
    if stop == "suspended":
        x.suspend()
        x = inline.drive(x)
    assert x.status == stop
    before = x.wakes
    x = x.signal("go", 1)
    assert (x.status, x.due_at, x.unread, x.wakes) == (stop, None, 1, before + 1)


def test_a_held_row_keeps_its_lease() -> None:
    """Design §7.4. Only the holder moves what is held; the signal raises the count."""
    x = waiting()
    x.signal("go")
    claim, _ = claimed(x)
    before = now(x)
    x.signal("go")
    after = now(x)
    assert (after.due_at, after.epoch, after.lease_holder) == (before.due_at, claim.epoch, claim.holder)
    assert (after.wakes, after.unread) == (before.wakes + 1, before.unread + 1)


def test_it_happens_with_the_callers_transaction_or_not_at_all() -> None:
    """Promise P7."""
    x = waiting()
    with transaction.atomic():
        x.signal("go")
        transaction.set_rollback(True)
    assert not Signal.objects.exists() and now(x).due_at is None


@pytest.mark.parametrize("landed", [True, False], ids=["landed", "lost"])
def test_an_answer_that_was_lost(landed: bool) -> None:
    """Design §7.2. A signal whose commit was not answered is looked up by the request's own id."""
    x = waiting()
    with failing_commit(1, landed=landed):
        if landed:
            x.signal("go", 1)
        else:
            with pytest.raises(Exception, match="the connection is lost"):
                x.signal("go", 1)
    assert Signal.objects.count() == now(x).unread == int(landed)


def test_what_it_costs() -> None:
    """The lock, the signal, the count with the wake, the line of history, and the look at what it is now."""
    x = waiting()
    with CaptureQueriesContext(connection) as captured:
        x.signal("go", 1)
    said = [query["sql"].split(" ")[0] for query in captured]
    assert [word for word in said if word not in ("BEGIN", "COMMIT")] == [
        "SELECT", "INSERT", "UPDATE", "INSERT", "SELECT",
    ]  # fmt: skip
    with CaptureQueriesContext(connection) as captured:
        executor.drive(x.pk, holder="host:1")
    read = [
        query["sql"] for query in captured if query["sql"].startswith("SELECT") and "saga_app_signal" in query["sql"]
    ]
    assert len(read) == 1


# refused


def test_no_signal_to_what_has_ended() -> None:
    """It changes nothing any more."""
    x = waiting()
    x.signal("go")
    inline.drive(x)
    assert told(x, "go") == "terminal" and Signal.objects.count() == 1


def test_a_name_that_no_gate_asks_for() -> None:
    """It is misspelt, and the nearest is named; where the saga is not known here, it may be right."""
    x = waiting(Wait("approved_by_bank"))
    with pytest.raises(VerbRefused, match="approved_by_bank") as refusal:
        x.signal("aproved_by_bank")
    assert refusal.value.code == "no_such_gate"
    with registry.isolate():
        assert told(x, "anything") == ""


def test_a_path_means_one_gate() -> None:
    """A gate may be named by its path; one in a loop needs its turn."""
    x = waiting(Wait("go").named("gate"))
    assert told(x, "gate") == "" and Signal.objects.get().name == "gate"
    assert inline.drive(x).status == "completed"


def test_a_path_in_a_loop_has_its_turns() -> None:
    """The signal's name opens one turn after the other; a path is that of one turn, and the node's name is neither."""
    x = Saga("w", ForEach("line", ref("input.lines"), Wait("go").named("gate"))).start(lines=[1, 2])
    no_paths = ("gate", "line[x]/gate", "line[0]gate", "line/gate", "line[0]/line[1]/gate", "line[0]")
    assert {told(x, name) for name in no_paths} == {"no_such_gate"}
    assert [told(x, name, n) for n, name in enumerate(["line[1]/gate", "go"])] == ["", ""]
    x = inline.drive(x)
    assert [x.steps.get(path=f"line[{n}]/gate").output for n in (0, 1)] == [1, 0]


@pytest.mark.parametrize("name", ["", "x" * 256, "a\x00b", "\ud800", None, 7])
def test_names_that_cannot_be_stored(name: Any) -> None:
    """Empty, too long, or no text that a database stores."""
    x = waiting()
    with pytest.raises(InputError, match="name"):
        x.signal(name)
    with pytest.raises(InputError, match="key"):
        x.signal("go", key=name if name is not None else 1)


def test_payloads_that_cannot_be_stored(settings: Any) -> None:
    """Promise P10. Refused at the door, with the place in the value."""
    settings.SAGA = {"MAX_VALUE_BYTES": 1000}
    x = waiting()
    for payload in (object(), {"deep": [float("nan")]}, "x" * 2000):
        with pytest.raises(UnsupportedValue):
            x.signal("go", payload)
    assert now(x).unread == 0


def test_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is an end to what one execution keeps unread, since whoever drives it reads them all."""
    monkeypatch.setattr("saga_app.answering.MOST_UNREAD", 3)
    x = waiting(Wait("stop"), Wait("go"))
    assert [told(x, "go", n) for n in range(4)] == ["", "", "", "too_many_signals"]
    assert now(x).unread == 3 and store.MOST_UNREAD == 1000
