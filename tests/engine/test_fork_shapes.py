"""Fork inside of loops, groups and recoveries, behind gates, and above children (design §12)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from saga_app import Child, ForEach, If, Milestone, Parallel, Pivot, Repeat, Saga, Try, Wait, While, ref, step, testing
from saga_app.models import Execution
from saga_app.store.transactions import alias
from tests.engine.drives import DATABASES
from tests.harness import (
    DONE,
    OK,
    UNWOUND,
    clear,
    do,
    end,
    fail,
    fix,
    now,
    ok,
    order,
    outcomes,
    rec,
    records,
    told,
)

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]


def settled(x: Execution) -> Execution:
    testing.drain()
    return now(x)


def driven(*nodes: Any, **values: Any) -> Execution:
    return settled(Saga("s", *nodes).start(**values))


def paths(x: Execution) -> list[str]:
    return [one.path for one in records(x)]


def ended(*nodes: Any, **values: Any) -> Execution:
    """Driven to its end; where it is stuck past its pivot, given up there, with nothing undone."""
    x = driven(*nodes, **values)
    return x.abandon(reason="enough") if x.status == "stuck" else x


def begun(x: Execution, path: str) -> list[str]:
    """What a fork takes over, by path."""
    return paths(x.fork(path))


LINE = ForEach("line", ref("input.lines"), do("pick", takes="line"), do("pack", takes="line"))


def test_inside_of_a_loop() -> None:
    """The items before are over; of the item itself, what ran before the step."""
    old = ended(LINE, do("ship"), lines=["A", "B", "C"])
    assert end(old) == DONE
    clear()
    new = old.fork("line[1]/pack")
    assert paths(new) == ["line", "line[0]/pick", "line[0]/pack", "line[1]/pick"]
    assert end(settled(new)) == DONE
    assert order() == ["pack", "pick", "pack", "ship"]
    assert paths(new) == paths(old)
    assert [one.arguments["line"] for one in records(new) if one.name == "pack"] == ["A", "B", "C"]


def test_in_a_loop_of_many_items() -> None:
    """The loop's mark of what is over belongs to the old one: a fork from an earlier item looks again."""
    old = ended(ForEach("line", ref("input.lines"), do("pick"), do("pack")), lines=list(range(60)))
    assert end(old) == DONE
    assert rec(old, "line").turn > 5
    new = old.fork("line[5]/pack")
    assert rec(new, "line").turn == 0
    assert end(settled(new)) == DONE
    assert paths(new) == paths(old)


def test_at_a_condition() -> None:
    @step
    def count(total: int = 0) -> int:
        return total + 1

    again = While(lambda total=0: total < 3, count.named("more", provides="total")).named("again")
    until = Repeat(do("x"), until=lambda iteration: iteration == 1).named("until")
    old = ended(again, until)
    assert end(old) == DONE
    assert begun(old, "until[0]")[-2:] == ["again[3]", "until[0]/x"]
    old = ended(again, until)
    assert begun(old, "again[1]") == ["again[0]", "again[0]/more"]
    assert end(settled(old.fork("again[0]"))) == DONE


def test_a_choice_that_was_taken_over_is_not_made_again() -> None:
    chosen: list[int] = []

    def large(total: int) -> bool:
        chosen.append(total)
        return total > 10

    old = ended(If(large, do("a"), do("b"), otherwise=[do("c")]), total=11)
    new = settled(old.fork("b"))
    assert (end(new), paths(new), chosen) == (DONE, ["large", "a", "b"], [11])
    assert rec(new, "large").choice == "true"


def test_in_a_branch_whose_group_failed() -> None:
    """The other branch's failure is done again too; what had ended well there is taken over."""
    group = Parallel(one=[do("a"), do("b")], two=[do("c"), do("d", fail(OSError))])
    old = ended(do("first"), Pivot(), group, do("last"))
    assert old.status == "failed"
    started = paths(old)
    target = "b" if "b" in started else "a"
    before = [one.path for one in records(old) if one.seq < rec(old, target).seq and one.status == "completed"]
    fix("d", ok())
    new = old.fork(target)
    assert paths(new) == before
    assert end(settled(new)) == DONE
    assert sorted(paths(new)) == ["a", "b", "c", "d", "first", "last"]


def test_what_was_cut_short_is_done_again() -> None:
    """A gate that was waiting when its group failed did nothing: the fork waits there anew."""
    old = ended(do("first"), Pivot(), Parallel(one=[Wait("paid")], two=[do("a"), do("b", fail(OSError))]), do("last"))
    assert rec(old, "paid").status == "skipped"
    fix("b", ok())
    new = settled(old.fork("b"))
    assert (new.status, rec(new, "paid").status) == ("waiting", "waiting")
    new.signal("paid", 7)
    assert end(settled(new)) == DONE


def test_a_failure_that_the_saga_went_on_after_is_taken_over() -> None:
    """Recovered by a Try, or of a step that is not required: it is over, and is not tried again."""
    careful = Try(do("a", comp=OK), do("b", fail(OSError), comp=OK), catch=(OSError,), recover=[do("r")])
    old = ended(careful, do("extra", fail(OSError), required=False), do("z"))
    assert end(old) == DONE
    clear()
    new = settled(old.fork("z"))
    assert (end(new), order()) == (DONE, ["z"])
    assert [(one.path, one.status) for one in records(new)] == [
        ("a", "completed"), ("b", "failed"), ("r", "completed"), ("extra", "failed"), ("z", "completed"),
    ]  # fmt: skip


def test_the_whole_debt_of_a_recovered_body_moves_along() -> None:
    careful = Try(do("a", comp=OK), do("b", fail(OSError), comp=OK), catch=(OSError,), recover=[do("r")])
    old = ended(careful, do("z"))
    fix("z", fail(OSError))
    new = settled(old.fork("z"))
    assert end(new) == UNWOUND
    assert outcomes(new) == {"a": "compensated", "b": "compensated"}
    assert outcomes(old) == {"a": "", "b": ""}


def test_what_a_gate_was_told_comes_along() -> None:
    """A signal is consumed once: by the old one. A gate behind the fork's first step waits for another."""
    saga = Saga("s", Wait("paid"), do("a", takes="paid"), Wait("sent"), do("b", takes="paid sent"))
    old = saga.start()
    old.signal("paid", {"by": "card"})
    old.signal("sent", 1)
    assert end(settled(old)) == DONE
    new = settled(old.fork("a"))
    assert (new.status, paths(new)) == ("waiting", ["paid", "a", "sent"])
    assert rec(new, "a").arguments == {"paid": {"by": "card"}}
    new.signal("sent", 2)
    assert end(settled(new)) == DONE
    assert rec(new, "b").arguments == {"paid": {"by": "card"}, "sent": 2}


def test_a_milestone_that_was_passed_stays_passed() -> None:
    old = ended(do("a", comp=OK), Milestone("m"), do("b", comp=OK), do("c"))
    fix("c", fail(OSError))
    new = settled(old.fork("c"))
    assert (new.status, new.rollback_status, new.rested_at) == ("failed", "rested", "m")
    assert outcomes(new) == {"a": "", "b": "compensated"}


def test_what_stands_is_shown_where_it_is_owed() -> None:
    """Of one that rested: what was before the milestone stands still, until a fork has taken it over."""
    old = ended(do("a", comp=OK), Milestone("m"), do("b", fail(OSError), ok()))
    assert old.rollback_status == "rested"
    assert [one.path for one in old.steps.undone()] == ["a"]
    new = old.fork("b")
    assert [one.path for one in old.steps.undone()] == []
    assert [one.path for one in new.steps.undone()] == ["a"]


@pytest.mark.parametrize(("path", "pivoted"), [("a", False), ("b", False), ("c", True), ("d", True)])
def test_the_pivot_comes_along_where_it_lies_before(path: str, pivoted: bool) -> None:
    old = ended(do("a", comp=OK), do("b", comp=OK), Pivot(), do("c"), do("d"))
    new = old.fork(path)
    assert (now(new).pivoted_at == old.pivoted_at) is pivoted
    assert end(settled(new)) == DONE


def child_saga() -> Saga[Any]:
    return Saga("sub", do("in_child", comp=OK))


def test_a_child_moves_to_whoever_answers_for_it() -> None:
    """Its undoing is owed by the new one, which therefore is its parent from then on."""
    old = ended(Child(child_saga()), do("z"))
    (child,) = old.children.all()
    fix("z", fail(OSError))
    new = old.fork("z")
    child = now(child)
    assert (child.parent_id, child.parent_path, child.status) == (new.pk, "sub", "completed")
    assert end(settled(new)) == UNWOUND
    assert now(child).status == "cancelled"
    assert order() == ["in_child", "z", "z", "~in_child"]
    assert told(old.fork, "z") == "taken"


def test_a_child_from_the_fork_on_is_a_new_one() -> None:
    old = ended(do("a"), Child(child_saga()), do("z"))
    new = settled(old.fork("sub"))
    assert end(new) == DONE
    assert rec(new, "sub").child_id != rec(old, "sub").child_id
    assert [one.pk for one in old.children.all()] == [rec(old, "sub").child_id]


def test_many_children_move() -> None:
    old = ended(ForEach("line", ref("input.lines"), Child(child_saga())), do("z"), lines=list(range(40)))
    assert end(old) == DONE
    new = old.fork("z")
    assert (old.children.count(), new.children.count()) == (0, 40)
    assert end(settled(new)) == DONE


def test_a_child_is_not_forked_from_under_its_parent() -> None:
    """Its parent undoes it as a whole. From its first step nothing is taken: that is a rerun."""
    old = ended(Child(Saga("sub", do("in_child", comp=OK), do("second"))), do("z"))
    (child,) = old.children.all()
    assert told(child.fork, "second") == "is_child"
    new = settled(child.fork("in_child"))
    assert (end(new), new.parent_id) == (DONE, None)


def test_a_child_that_was_undone_cannot_be_taken() -> None:
    old = driven(Child(child_saga()), do("z", fail(OSError)))
    assert end(old) == UNWOUND
    assert told(old.fork, "z") == "child_undone"
    assert Execution.objects.using(alias()).count() == 2


CAREFUL = Try(do("b", fail(OSError)), recover=do("c"))
SHAPES: dict[str, Callable[[], list[Any]]] = {
    "row": lambda: [do("a"), do("b"), do("c")],
    "loop": lambda: [ForEach("line", ref("input.lines"), do("a"), do("b")), do("c")],
    "concurrent": lambda: [ForEach("line", ref("input.lines"), do("a"), do("b"), concurrency=2), do("c")],
    "group": lambda: [do("a"), Parallel(x=[do("b"), do("c")], y=[do("d"), do("e")]), do("f")],
    "nested": lambda: [
        ForEach("line", ref("input.lines"), Parallel(do("a"), y=[CAREFUL, do("d")])),
        If(lambda: True, Repeat(do("e"), until=lambda iteration: iteration == 2).named("rep")).named("yes"),
    ],
    "child": lambda: [do("a"), Child("sub"), do("b")],
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_from_any_record_it_comes_to_the_same_end(shape: str) -> None:
    """Whatever ended well can be done again from each of its records, and then has run the same."""
    child_saga()
    saga = Saga("s", *SHAPES[shape]())
    saga.seal()
    values = {"lines": [1, 2]} if saga.input_names else {}
    for path in sorted(paths(settled(saga.start(**values)))):
        old = settled(saga.start(**values))
        assert end(old) == DONE
        new = old.fork(path)
        taken = paths(new)
        assert path not in taken
        assert end(settled(new)) == DONE, (path, taken)
        assert sorted(paths(new)) == sorted(paths(old))
