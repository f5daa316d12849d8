"""Each verb in each state: allowed, or refused with its code and nothing changed; who, when and why (design §12)."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any
from uuid import UUID

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth import get_user_model
from django.db import transaction

from saga_app import Saga, VerbRefused, engine
from saga_app.core.errors import UnknownExecution
from saga_app.core.verbs import VERBS
from saga_app.models import Event, Execution
from tests.engine.drives import DATABASES, drive, refusing, writes_to
from tests.engine.standing import STATES, stuck_backwards, stuck_forward, waiting
from tests.harness import DONE, OK, UNWOUND, do, end, events, fail, now, ok, rec, rows_of, told

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]

FORWARD = {"cancel": "", "suspend": "", "resolve": "nothing_to_resolve"}
NOT_STUCK = dict.fromkeys(("abandon", "unwind", "skip", "resolve"), "not_stuck")
GOING = {"resume": "not_waiting", **NOT_STUCK, "cancel": "", "suspend": "", "rerun": "not_terminal"}
STUCK = {"resume": "", "abandon": "", "suspend": "stuck", "rerun": "not_terminal"}
ENDED = {**dict.fromkeys(VERBS, "terminal"), "rerun": ""}

#: state → verb → the code of its refusal; empty: allowed
TABLE: dict[str, dict[str, str]] = {
    "pending": GOING,
    "held": GOING,
    "between_steps": GOING,
    "waiting": {**GOING, "resume": ""},
    "waiting_past_the_pivot": {**GOING, "resume": "", "cancel": "past_pivot"},
    "suspended": {**GOING, "resume": "", "suspend": "suspended"},
    "compensating": {**GOING, "resume": "", "cancel": "unwinding"},
    "stuck_forward": {**STUCK, "skip": "", "unwind": "", "cancel": "", "resolve": "nothing_to_resolve"},
    "stuck_past_the_pivot": {
        **STUCK, "skip": "", "unwind": "past_pivot", "cancel": "past_pivot", "resolve": "nothing_to_resolve",
    },
    "stuck_backwards": {**STUCK, "skip": "unwinding", "unwind": "unwinding", "cancel": "unwinding", "resolve": ""},
    "completed": ENDED,
    "failed": ENDED,
    "cancelled": ENDED,
}  # fmt: skip


def use(verb: str, x: Execution, **values: Any) -> Execution:
    """The verb, with what it needs."""
    values = {"reason": "because", **values}
    match verb:
        case "skip":
            return engine.skip(x, "b", happened=True, output="by hand", **values)
        case "resolve":
            return engine.resolve(x, "b", **values)
    return getattr(engine, verb)(x, **values)


def everything(x: Execution) -> Any:
    """All rows of it, its history included."""
    return rows_of(x), list(Event.objects.filter(execution_id=x.pk).values())


@pytest.mark.parametrize("state", STATES)
def test_each_verb_in_this_state(state: str) -> None:
    """Design §12. Hazard A30, Hazard B199. Refused with a code of its own, and nothing changed; or allowed, and told.

    eligibility() says the same before. What was allowed leaves who, when and why, and an execution that goes on.
    """
    x = STATES[state]()
    user = get_user_model().objects.create_user("olga")
    said = {verb: "" if answer else answer.code for verb, answer in engine.eligibility(x).items()}
    assert said == TABLE[state] == {verb: TABLE[state][verb] for verb in VERBS}
    for verb, code in said.items():
        if code:
            before = everything(x)
            assert told(use, verb, x) == code
            assert everything(x) == before, verb
            continue
        one = STATES[state]()
        version = now(one).version
        answer = use(verb, one, actor=user)
        assert answer.pk == one.pk or verb == "rerun"
        (event,) = events(one, verb)
        assert (event.actor, event.actor_name, event.reason) == (user, "olga", "because")
        assert abs((event.at - answer.updated_at).total_seconds()) < 5
        assert now(one).version == version + (verb != "rerun")
        drive(one)


def test_whoever_acted_is_named_after_they_are_gone() -> None:
    """Promise P8. Hazard B219. The name in the history outlives the user's row."""
    user = get_user_model().objects.create_user("olga")
    x = stuck_forward()
    x.resume(actor=user, reason="mended")
    user.delete()
    (event,) = events(x, "resume")
    assert (event.actor_id, event.actor_name, event.reason) == (None, "olga", "mended")


@pytest.mark.parametrize("verb", ["resume", "abandon", "unwind", "skip"])
def test_a_plan_that_has_moved_on(verb: str) -> None:
    """Design §12. Hazard A79. Of two operators who saw the same page one acts; the other is told who was first."""
    user = get_user_model().objects.create_user("olga")
    x = stuck_forward()
    seen = x.version
    x.resume(actor=user, reason="first", version=seen)
    drive_until_stuck_again(x)
    before = everything(x)
    with pytest.raises(VerbRefused) as refused:
        use(verb, x, version=seen)
    assert refused.value.code == "version_changed"
    assert refused.value.params["by"] == "olga" and refused.value.params["verb"] == "resume"
    assert "olga" in refused.value.text
    assert everything(x) == before
    use(verb, x, version=now(x).version)


def drive_until_stuck_again(x: Execution) -> None:
    Saga("s", do("a", comp=OK), do("b", fail(OSError)), on_failure="hold")
    assert drive(x).status == "stuck"


def test_a_resolve_of_a_plan_that_has_moved_on() -> None:
    """The same for the verb of an unwind."""
    x = stuck_backwards()
    assert told(engine.resolve, x, "b", reason="?", version=x.version - 1) == "version_changed"
    x.resolve("b", reason="by hand", version=x.version)


@pytest.mark.parametrize("verb", ["skip", "resolve", "abandon"])
def test_what_cannot_be_undone_needs_a_reason(verb: str) -> None:
    """Design §12. Without one, or with blanks for one, nothing changes."""
    x = stuck_backwards() if verb == "resolve" else stuck_forward()
    before = everything(x)
    for reason in ("", "  \n"):
        assert told(use, verb, x, reason=reason) == "reason_required"
    assert everything(x) == before


def test_a_step_that_is_not_the_one() -> None:
    """Design §12. The path must be what it stopped at; the nearest name is said. An output must be storable."""
    x, y = stuck_forward(), stuck_backwards()
    before = everything(x), everything(y)
    skip = {"happened": True, "reason": "?"}
    assert told(engine.skip, x, "a", **skip) == "step_not_stuck"
    assert told(engine.resolve, y, "a", reason="?") == "nothing_to_resolve"
    assert told(engine.resolve, y, "zz", reason="?") == "no_such_step"
    with pytest.raises(VerbRefused) as misspelt:
        engine.skip(x, "bb", **skip)
    assert misspelt.value.text == "It has no step record “bb”. Did you mean “b”?"
    with pytest.raises(VerbRefused) as strange:
        engine.skip(x, "zz", **skip)
    assert strange.value.text == "It has no step record “zz”."
    with pytest.raises(VerbRefused, match="output") as refused:
        engine.skip(x, "b", output=object(), **skip)
    assert refused.value.code == "output_invalid"
    assert (everything(x), everything(y)) == before


@pytest.mark.parametrize("target", [UUID(int=7), str(UUID(int=8)), "no id at all", 7])
def test_an_execution_that_is_not_there(target: Any) -> None:
    """Hazard B200. Each verb says so."""
    for verb in VERBS:
        with pytest.raises(UnknownExecution):
            use(verb, target)
    with pytest.raises(UnknownExecution):
        engine.eligibility(target)


def test_by_id_and_as_a_method() -> None:
    """Engine takes an execution, its id or the id's text; each verb is a method as well."""
    x = waiting()
    engine.suspend(str(x.pk))
    assert engine.suspend.__name__ == x.suspend.__name__
    drive(x)
    assert engine.resume(x.pk).status == "running"
    assert all(callable(getattr(x, verb)) and callable(getattr(x, f"a{verb}")) for verb in VERBS)


def test_inside_a_transaction_of_the_callers() -> None:
    """Promise P7. A verb happens when the transaction commits, and not when it rolls back; so does a start."""
    saga, x = Saga("t", do("t")), waiting()
    before = everything(x)
    with suppress(KeyError), transaction.atomic():
        x.cancel(reason="no")
        saga.start(key="k")
        raise KeyError
    assert everything(x) == before
    assert not Execution.objects.filter(saga="t").exists()
    with transaction.atomic():
        x.cancel(reason="yes")
        saga.start(key="k")
    assert now(x).cancel_reason == "yes"
    assert Execution.objects.filter(saga="t").count() == 1


@pytest.mark.parametrize("table", ["execution", "event"])
def test_a_verb_that_the_database_refuses(table: str) -> None:
    """Hazard A77, Hazard A78, Hazard R27, Hazard B67. Row and history change together or not at all."""
    x = stuck_backwards()
    before = everything(x)
    for verb in ("resume", "resolve", "abandon"):
        with refusing(writes_to(table)), pytest.raises(Exception, match="the disk is full"):
            use(verb, x)
        assert everything(x) == before
    x.resume()
    assert end(drive(x)) == UNWOUND


def test_async_twins() -> None:
    """Hazard A142. Each verb can be awaited, and so can start and run; a refusal is raised where it is awaited."""

    async def story() -> Execution:
        saga = Saga("s", do("a"), do("b", fail(OSError), ok()), on_failure="hold")
        x = await saga.arun()
        asked = [x.aabandon(), x.asuspend(), x.aresolve("b", reason="?"), saga.astart(nonsense=1)]
        raised = await asyncio.gather(*asked, return_exceptions=True)
        codes = [getattr(one, "code", type(one).__name__) for one in raised]
        assert codes == ["reason_required", "stuck", "nothing_to_resolve", "InputError"]
        assert (await x.aresume(reason="mended")).status == "running"
        assert (await engine.await_end(x, timeout=0)).status == "running"
        assert (await engine.astart(saga, key="k")).is_new and not (await saga.astart(key="k")).is_new
        return await x.await_end(timeout=0)

    x = async_to_sync(story)()
    assert end(drive(x)) == DONE


def test_it_tells_how_it_stands_now() -> None:
    """Hazard R14. A verb returns the execution as it is after it, and never says that what it asked for is done."""
    x = stuck_backwards()
    answer = x.resume(reason="again")
    assert (answer.status, answer.stuck_reason, answer.rollback_status) == ("compensating", "", "")
    assert end(x) == ("compensating", "", "")
    assert rec(x, "b").compensation_attempt == 1
    assert end(drive(x)) == UNWOUND


def test_an_actor_that_is_no_user() -> None:
    """A TypeError that says what an actor is; nothing is written."""
    x = Saga("s", do("a")).start()
    before = everything(x)
    with pytest.raises(TypeError, match="actor is a user, or None, and not str"):
        x.cancel(actor="bob")
    assert everything(x) == before
