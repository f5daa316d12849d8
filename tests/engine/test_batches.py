"""A batch is carried out: each execution once, in somebody's name, as fast as it may, until somebody stops it."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, transaction

from saga_app import VerbRefused, batches, clock, engine
from saga_app.core import batching
from saga_app.core.errors import BatchError
from saga_app.models import Event, Execution, OperatorBatch
from tests.selections import again, begun, draft, drive, once_each, operator, outcomes, rows, told

pytestmark = pytest.mark.django_db(transaction=True)


def test_what_may_be_is_done_and_what_may_not_is_told() -> None:
    """Case C25. Both numbers are reported; every execution's history says who, why, and that it was a batch."""
    rows(2, "completed")
    batch = begun(count=5)
    done = drive(batch)
    assert outcomes(done) == {"accepted": 5, "terminal": 2}
    assert done.status == "completed" and done.finished_at is not None and done.lease_holder is None
    assert once_each(done, "resume")
    line = Event.objects.filter(type="resume").first()
    assert line is not None
    assert (line.actor_name, line.reason, line.data) == ("anna", "mended", {"batch": str(batch.pk)})
    assert Execution.objects.filter(status="running").count() == 5


def test_the_selection_is_frozen() -> None:
    """What fits the filter later is not added; what changed since it was seen is refused, and says who was first."""
    batch = draft(count=3)
    rows(2)
    first = batch.items.first()
    assert first is not None
    engine.resume(first.execution_id, actor=operator("resume", name="bert"))
    drive(batches.begin(batch, actor=batch.actor))
    assert outcomes(batch) == {"accepted": 2, "version_changed": 1}
    assert batch.items.get(code="version_changed").params["by"] == "bert"
    assert Execution.objects.filter(status="stuck").count() == 2


@pytest.mark.parametrize("verb", ["cancel", "suspend"])
def test_what_runs_may_be_stopped_though_it_has_moved(verb: str) -> None:
    """Design §12. These two need no version: what runs changes all the time."""
    batch = draft(verb, status="running", due_at=clock.now() + timedelta(hours=1))
    Execution.objects.update(version=17)
    drive(batches.begin(batch, actor=batch.actor))
    assert outcomes(batch) == {"accepted": 3}


def test_a_verb_that_needs_a_reason_is_not_begun_without() -> None:
    batch = draft("abandon")
    with pytest.raises(VerbRefused, match="Say why"):
        batches.begin(batch, actor=batch.actor, reason="  ")
    assert again(batch).status == "draft"
    drive(batches.begin(batch, actor=batch.actor, reason="too old"))
    assert set(Execution.objects.values_list("status", flat=True)) == {"failed"}


def test_first_a_few_then_the_rest() -> None:
    """The canary: it stops after so many, asks nobody's patience, and goes on to the end when it is told to."""
    batch = begun(count=7, canary=2)
    held = drive(batch)
    assert (held.status, held.due_at) == ("holding", None)
    assert outcomes(batch) == {"accepted": 2, "pending": 5}
    assert drive(held).status == "holding", "nobody does more of it"
    assert drive(batches.go_on(held, actor=batch.actor)).status == "completed"
    assert outcomes(batch) == {"accepted": 7} and once_each(batch, "resume")


def test_a_refusal_is_no_canary() -> None:
    """Nobody learns from it what becomes of the rest: it goes on until so many were accepted."""
    rows(4, "completed")
    held = drive(begun(count=5, canary=2))
    assert held.status == "holding" and outcomes(held) == {"terminal": 4, "accepted": 2, "pending": 3}


def test_a_canary_of_all_is_the_end() -> None:
    assert drive(begun(count=3, canary=3)).status == "completed"


def test_a_pause_in_the_canary_keeps_it() -> None:
    batch = begun(count=4, canary=3, rate=0.01)
    drive(batch)
    batches.pause(batch, actor=batch.actor)
    OperatorBatch.objects.update(rate=None)
    held = drive(batches.go_on(batch, actor=batch.actor))
    assert held.status == "holding" and outcomes(batch) == {"accepted": 3, "pending": 1}


def test_a_rate_is_kept_by_when_it_is_due() -> None:
    """One each two seconds: the worker is free in between."""
    batch = begun(count=3, rate=0.5)
    before = clock.now()
    waits = drive(batch)
    assert outcomes(batch) == {"accepted": 1, "pending": 2}
    assert waits.lease_holder is None
    assert timedelta(seconds=1.5) < waits.due_at - before < timedelta(seconds=3)


def test_what_is_refused_does_not_count_for_the_rate() -> None:
    """It calls nobody: thousands that have ended meanwhile do not hold up the others."""
    rows(6, "completed")
    waits = drive(begun(count=2, rate=0.5))
    assert outcomes(waits) == {"terminal": 6, "accepted": 1, "pending": 1} and waits.status == "running"


def test_many_are_done_in_several_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two goes others get their turn, and who let it run is looked at again."""
    monkeypatch.setattr(batches, "MOST_AT_ONCE", 2)
    batch = begun(count=5)
    goes = 0
    while batches.drive_next(holder="host:1"):
        goes += 1
    assert goes == 3 and outcomes(batch) == {"accepted": 5}


@pytest.mark.parametrize("what", ["gone", "inactive", "no verb", "no batches"])
def test_who_may_not_any_more_lets_nothing_run(what: str) -> None:
    """It pauses by itself and says why; somebody who may lets it go on, from then on in that name."""
    batch = begun(count=3)
    anna = User.objects.get(username="anna")
    if what == "gone":
        anna.delete()
    elif what == "inactive":
        User.objects.update(is_active=False)
    else:
        lost = "resume_execution" if what == "no verb" else "batch_execution"
        anna.user_permissions.remove(anna.user_permissions.get(codename=lost))
    halted = drive(batch)
    because = "actor_gone" if what == "gone" else "not_permitted"
    assert (halted.status, halted.halted_because, halted.actor_name) == ("paused", because, "anna")
    assert outcomes(batch) == {"pending": 3}
    done = drive(batches.go_on(halted, actor=operator("resume", name="bert"), reason="I may"))
    assert (done.status, done.halted_because, done.actor_name) == ("completed", "", "bert")
    assert set(Event.objects.filter(type="resume").values_list("actor_name", "reason")) == {("bert", "mended")}
    lines = [(line["what"], line["by"], line["why"]) for line in done.history]
    assert lines[1:] == [("halt", "", because), ("go_on", "bert", "I may"), ("complete", "", "")]


def test_the_history_outlives_those_in_it() -> None:
    """Design §12. Who began, paused, went on, cancelled, and why, is known after the users are deleted."""
    batch, bert = begun(count=2, canary=1), operator(name="bert")
    batches.pause(batch, actor=bert, reason="look first")
    batches.go_on(batch, actor=bert)
    drive(batch)
    batches.cancel(again(batch), actor=batch.actor, reason="enough")
    User.objects.all().delete()
    lines = again(batch).history
    assert [(line["what"], line["by"], line["why"]) for line in lines] == [
        ("begin", "anna", "mended"), ("pause", "bert", "look first"), ("go_on", "bert", ""),
        ("halt", "", "not_permitted"), ("cancel", "anna", "enough"),
    ]  # fmt: skip


def test_an_error_ends_one_item_and_no_other(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """What is no refusal is told with its text; a defect is in the log as well; what it wrote is not kept."""
    batch = begun(count=4)
    really = engine.resume
    first, second, *_ = [item.execution_id for item in batch.items.all()]

    def resume(x: Any, **options: Any) -> Execution:
        after = really(x, **options)
        if x == first:
            raise RuntimeError("broken\x00here")
        if x == second:
            raise BatchError("a SagaError of its own")
        return after

    monkeypatch.setattr(engine, "resume", resume)
    with caplog.at_level(logging.ERROR, logger="saga_app"):
        done = drive(batch)
    assert outcomes(done) == {"RuntimeError": 1, "BatchError": 1, "accepted": 2}
    assert done.items.get(code="RuntimeError").params == {"text": "broken\\x00here"}
    assert str(first) in caplog.text and str(second) not in caplog.text
    assert Execution.objects.get(pk=first).status == "stuck" and once_each(done, "resume")


def test_a_database_that_does_not_answer_costs_no_item(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault that may pass says nothing about the execution: the next claim tries it again."""
    batch, really, failed = begun(count=3), engine.resume, []

    def resume(x: Any, **options: Any) -> Execution:
        after = really(x, **options)
        if len(failed) < 1 and told(batch, "resume").total() == 2:
            failed.append(x)
            raise OperationalError("the server is restarting")
        return after

    monkeypatch.setattr(engine, "resume", resume)
    assert batches.drive_next(holder="host:1") == 1
    assert outcomes(batch) == {"accepted": 1, "pending": 2}
    OperatorBatch.objects.update(due_at=clock.now())
    assert drive(batch).status == "completed"
    assert outcomes(batch) == {"accepted": 3} and once_each(batch, "resume")


def test_an_execution_that_every_worker_dies_of_is_not_tried_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three in a row: it pauses and says so. A release, or an item done, forgets them."""

    def resume(*_: Any, **__: Any) -> Execution:
        raise SystemExit(9)

    batch = begun(count=2)
    batches.drive_next(holder="host:1", go_on=lambda: False)
    assert again(batch).deaths == 0
    with monkeypatch.context() as patched:
        patched.setattr(engine, "resume", resume)
        for _ in range(batching.MOST_DEATHS):
            with pytest.raises(SystemExit):
                batches.drive_next(holder="host:1")
            OperatorBatch.objects.update(due_at=clock.now())
        halted = drive(batch)
    assert (halted.status, halted.halted_because) == ("paused", "worker_lost")
    assert drive(batches.go_on(halted, actor=batch.actor)).status == "completed"


def test_what_people_do_happens_when_their_transaction_commits() -> None:
    """Promise P7."""
    batch = draft(count=2)
    with transaction.atomic():
        batches.begin(batch, actor=batch.actor)
        transaction.set_rollback(True)
    assert again(batch).status == "draft" and not batches.drive_next(holder="host:1")


def test_nothing_and_too_much_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    anna = operator("resume")
    with pytest.raises(BatchError, match="Nothing was selected"):
        batches.freeze("resume", Execution.objects.all(), actor=anna)
    rows(4)
    monkeypatch.setattr(batches, "MOST", 3)
    with pytest.raises(BatchError, match="More than 3"):
        batches.freeze("resume", Execution.objects.all(), actor=anna)
    with pytest.raises(BatchError, match="no verb for many"):
        batches.freeze("skip", Execution.objects.all(), actor=anna)
    batch = batches.freeze("resume", Execution.objects.all()[:3], actor=anna)
    for wrong in ({"canary": -1}, {"rate": 0}, {"rate": float("inf")}, {"rate": float("nan")}):
        with pytest.raises(BatchError):
            batches.begin(batch, actor=anna, **wrong)
    assert again(batch).status == "draft"


def test_who_saw_another_version_does_nothing() -> None:
    """Two people with the same page open: the second is told."""
    batch = draft()
    batches.begin(batch, actor=batch.actor, version=batch.version)
    for act in (batches.begin, batches.pause, batches.cancel):
        with pytest.raises(VerbRefused) as refusal:
            act(batch, actor=batch.actor, version=batch.version)
        assert refusal.value.code == "batch_changed" and refusal.value.params["by"] == "anna"
    with pytest.raises(VerbRefused):
        batches.discard(batch)


def test_a_draft_is_thrown_away() -> None:
    """By hand, or a day later: nothing was done, so nothing is kept."""
    batch, old = draft(), draft(actor=operator(name="bert"), count=0)
    batches.discard(batch)
    with pytest.raises(VerbRefused, match="no such batch"):
        batches.begin(batch, actor=batch.actor)
    OperatorBatch.objects.update(created_at=clock.now() - timedelta(days=2))
    draft(actor=User.objects.get(username="anna"), count=0)
    assert not OperatorBatch.objects.filter(pk__in=[batch.pk, old.pk]).exists()
    assert OperatorBatch.objects.count() == 1


def test_the_order_of_the_selection_is_kept() -> None:
    """The first few are those that stood first; one that a join has brought twice is there once."""
    anna, made = operator("resume"), rows(50)
    backwards = Execution.objects.order_by("-created_at")
    batch = batches.freeze("resume", backwards, actor=anna)
    assert [item.execution_id for item in batch.items.all()] == [one.pk for one in reversed(made)]
    assert batch.size == again(batch).size == 50
    for _ in range(2):
        engine.resume(made[0].pk)
        Execution.objects.filter(pk=made[0].pk).update(status="suspended", due_at=None)
    twice = batches.freeze("cancel", Execution.objects.filter(events__type="resume"), actor=anna)
    assert twice.size == twice.items.count() == 1
    with pytest.raises(BatchError, match="Nothing was selected"):
        batches.freeze("resume", Execution.objects.none(), actor=anna)
