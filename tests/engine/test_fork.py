"""Fork: an ended execution, done again from one of its steps on (design §12)."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction

from saga_app import KeyConflict, Pivot, Saga, VerbRefused, engine, ref, step, testing
from saga_app.models import Execution
from saga_app.store.transactions import alias
from tests.engine.drives import DATABASES, drive
from tests.harness import (
    ABANDONED,
    DONE,
    OK,
    UNWOUND,
    do,
    end,
    events,
    fail,
    fix,
    held,
    keys,
    now,
    ok,
    order,
    outcomes,
    rec,
    records,
    told,
)
from tests.threads import at_once

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]


def driven(*nodes: Any, **options: Any) -> Execution:
    """Started and driven until nothing is due."""
    return settled(Saga("s", *nodes, **options).start())


def settled(x: Execution) -> Execution:
    testing.drain()
    return now(x)


def paths(x: Execution) -> list[str]:
    return [one.path for one in records(x)]


def failed_past_the_pivot() -> Execution:
    """Ended there by an operator: nothing was undone."""
    x = driven(do("a", ok("A"), comp=OK), Pivot(), do("b", ok("B")), do("c", fail(OSError), ok("C"), takes="a b"))
    assert end(x) == held("failed_past_pivot")
    return x.abandon(reason="given up")


def test_it_goes_on_where_the_old_one_failed() -> None:
    """Design §12. What ran before is taken over with its values; nothing of it is called again."""
    old = failed_past_the_pivot()
    new = old.fork("c", actor=None, reason="the printer is back")
    assert (new.is_new, new.status, new.saga, new.revision, new.input_text) == (True, "pending", "s", 1, old.input_text)
    assert paths(new) == ["a", "b"]
    fix("c", ok("C"))
    assert end(settled(new)) == DONE
    assert order() == ["a", "b", "c", "c"]
    assert now(new).pivoted_at == old.pivoted_at
    assert rec(new, "c").arguments == {"a": "A", "b": "B"}
    assert rec(new, "c").attempt == 1


def test_each_record_is_taken_once_and_keeps_its_keys() -> None:
    old = failed_past_the_pivot()
    new = settled(old.fork("c"))
    assert [(one.path, one.taken_by) for one in records(old)] == [("a", new.pk), ("b", new.pk), ("c", None)]
    assert [(one.path, one.origin) for one in records(new)] == [("a", old.pk), ("b", old.pk), ("c", None)]
    assert [one.seq for one in records(new)] == [0, 1, 2]
    assert rec(new, "a").idempotency_key == rec(old, "a").idempotency_key
    assert rec(new, "c").idempotency_key != rec(old, "c").idempotency_key
    assert told(old.fork, "c") == told(old.fork, "b") == "taken"


def test_both_histories_say_so() -> None:
    old = failed_past_the_pivot()
    version = now(old).version
    new = old.fork("c", reason="the printer is back")
    (forked,) = events(old, "fork")
    assert (forked.reason, forked.data) == (
        "the printer is back",
        {"path": "c", "execution": str(new.pk), "taken": 2},
    )
    (started,) = events(new, "start")
    assert started.data == {"path": "c", "fork_of": str(old.pk)}
    assert now(old).version == version + 1
    assert end(old) == ("failed", "not_applicable", ""), "its end stays what it was"


def completed(**options: Any) -> Execution:
    x = driven(do("a", comp=OK), do("b", comp=OK), do("c", ok(), comp=OK), do("d", ok(), comp=OK), **options)
    assert end(x) == DONE
    return x


def test_what_was_taken_is_undone_by_the_new_one() -> None:
    """Once, by whoever has the record, under the keys of the calls it undoes."""
    old = completed()
    new = old.fork("c")
    fix("d", fail(OSError))
    assert end(settled(new)) == UNWOUND
    assert order()[4:] == ["c", "d", "~d", "~c", "~b", "~a"]
    assert outcomes(old) == {"a": "", "b": "", "c": "", "d": ""}
    assert [(line.path, line.action, line.reason) for line in engine.plan(old)] == [
        ("d", "compensate", ""),
        ("c", "compensate", ""),
        ("b", "nothing", "taken"),
        ("a", "nothing", "taken"),
    ]
    assert keys("~a") == {f"saga:{old.pk}:a:compensate"}
    assert keys("~c") == {f"saga:{new.pk}:c:compensate"}


def test_a_fork_of_a_fork_keeps_the_first_ones_keys() -> None:
    old = completed()
    second = settled(old.fork("c"))
    third = settled(second.fork("d"))
    assert [(one.path, one.origin) for one in records(third)] == [
        ("a", old.pk), ("b", old.pk), ("c", second.pk), ("d", None),
    ]  # fmt: skip
    assert {one.taken_by for one in records(second)[:3]} == {third.pk}
    assert order() == ["a", "b", "c", "d", "c", "d", "d"]
    assert told(old.fork, "b") == "taken"


def test_from_the_first_step_it_is_a_rerun() -> None:
    """Nothing is taken, so it can be done as often as one likes; in the same revision."""
    old = completed()
    Saga("s", do("z"), revision=2)
    for _ in range(2):
        new = settled(old.fork("a"))
        assert end(new) == DONE
        assert new.revision == 1
        assert paths(new) == ["a", "b", "c", "d"]
    assert [one.taken_by for one in records(old)] == [None] * 4


def test_the_input_and_large_values_come_along() -> None:
    large = "x" * 100_000

    @step
    def read(name: str) -> str:
        return name + large

    @step(attempts=1)
    def write(read: str, name: str) -> int:
        return len(read) + len(name)

    old = settled(Saga("s", read, write, output=ref("write")).start(name="n"))
    new = settled(old.fork("write"))
    assert new.output == old.output == 100_002
    assert rec(new, "read").output == "n" + large
    assert rec(new, "read").arguments == {"name": "n"}


def test_refused_while_it_is_open() -> None:
    x = Saga("s", do("a"), do("b", fail(OSError)), on_failure="hold").start()
    assert told(x.fork, "a") == "not_terminal"
    drive(x)
    assert told(x.fork, "b") == "not_terminal"


def test_refused_where_there_is_no_such_step() -> None:
    old = completed()
    with pytest.raises(VerbRefused, match="Did you mean “d”"):
        old.fork("dd")
    assert told(old.fork, "") == "no_such_step"


def test_refused_for_what_was_undone() -> None:
    """What was compensated, abandoned or done by hand stands no more: there is nothing to take over."""
    undone = driven(do("a", comp=OK), do("b", comp=OK), do("c", fail(OSError)))
    assert end(undone) == UNWOUND
    assert told(undone.fork, "c") == told(undone.fork, "b") == "undone"
    assert end(settled(undone.fork("a"))) == UNWOUND
    abandoned = driven(do("a", comp=OK), do("b", comp=[fail(OSError)]), do("c", fail(OSError)))
    abandoned.abandon(reason="enough")
    assert end(abandoned) == ABANDONED
    assert told(abandoned.fork, "b") == told(abandoned.fork, "c") == "undone"
    by_hand = driven(do("a", comp=[fail(OSError)]), do("b", fail(OSError)))
    by_hand.resolve("a", reason="by hand")
    assert end(settled(by_hand)) == UNWOUND
    assert told(by_hand.fork, "b") == "undone"


def test_what_owed_nothing_can_be_taken_from_one_that_was_unwound() -> None:
    old = driven(do("a"), do("b"), do("c", fail(OSError), ok(), comp=OK))
    assert end(old) == ("failed", "completed", "")
    new = old.fork("c")
    fix("c", ok())
    assert (paths(new), end(settled(new))) == (["a", "b"], DONE)


def test_refused_in_another_shape() -> None:
    """The same revision, changed so that what ran does not fit it; or not there at all."""
    old = completed()
    with testing.isolate_sagas():
        assert told(old.fork, "c") == "unknown_revision"
        Saga("s", do("a"), do("new"), do("b"), do("c"), do("d"))
        assert told(old.fork, "c") == "does_not_fit"
    with testing.isolate_sagas():
        Saga("s", do("a"), do("b"), do("renamed"), do("d"))
        assert told(old.fork, "c") == "does_not_fit"
    with testing.isolate_sagas():
        Saga("s", do("a"), do("b"), do("c"), do("d"), do("e"))
        new = settled(old.fork("c"))
        assert (end(new), paths(new)) == (DONE, ["a", "b", "c", "d", "e"])


def test_a_key_names_the_new_one() -> None:
    old = completed()
    new = old.fork("c", key="again")
    assert new.key == "again"
    other = completed()
    with pytest.raises(KeyConflict):
        other.fork("c", key="again")
    assert records(other)[0].taken_by is None


def test_it_happens_with_the_callers_transaction() -> None:
    """P7. Rolled back, nothing was taken and there is no new one."""
    old = completed()
    count = Execution.objects.using(alias()).count()

    class Regret(Exception):
        pass

    def regretted() -> None:
        with transaction.atomic(using=alias()):
            old.fork("c")
            raise Regret

    with pytest.raises(Regret):
        regretted()
    assert Execution.objects.using(alias()).count() == count
    assert {one.taken_by for one in records(old)} == {None}
    assert events(old, "fork") == []


def test_of_two_at_once_one_wins() -> None:
    old = completed()
    answers = at_once(*[lambda: told(old.fork, "c")] * 2)
    assert sorted(answers) == ["", "taken"]
    (new,) = Execution.objects.using(alias()).exclude(pk=old.pk)
    assert {one.taken_by for one in records(old)[:2]} == {new.pk}
