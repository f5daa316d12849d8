"""The walk over sagas of any shape, in states that the engine itself can make: total, lawful, and true to what ran."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any, get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from saga_app import Saga
from saga_app.core import registry
from saga_app.core.changes import change
from saga_app.core.decide import decide
from saga_app.core.decisions import Change, Decision
from saga_app.core.fitting import fits
from saga_app.core.nodes import ForEach, walk
from saga_app.core.snapshot import Snapshot
from saga_app.core.status import OPEN, STOPPED, UNSETTLED, StepStatus
from saga_app.core.tree import turns_of
from tests.core.renaming import renamed
from tests.core.search import NOW
from tests.core.search_table import load
from tests.core.strolls import stroll

seeds = st.integers(0, 2**32)
few = settings(max_examples=max(100, settings().max_examples))


def pictures(seed: int) -> Iterator[tuple[Saga[Any], Snapshot]]:
    """What a worker would read on one way through sagas of that seed, of each execution."""
    for sc, world in stroll(seed):
        for e, x in enumerate(world.rows):
            yield sc.saga(x), load(world, e)


def driven(seed: int) -> Iterator[tuple[Saga[Any], Snapshot]]:
    """Those of them that somebody may claim."""
    return ((saga, x) for saga, x in pictures(seed) if x.status in OPEN - STOPPED)


@few
@given(seeds)
def test_every_way_is_lawful_and_comes_to_rest(seed: int) -> None:
    """Promises P1, P2, P3 and P6, over sagas of nested nodes and their children, with misfortunes at random."""
    assert sum(1 for _ in stroll(seed)) > 1


@few
@given(seeds)
def test_total_and_deterministic(seed: int) -> None:
    """Design §4. There is one decision for everything that is open, and it is the same one each time."""
    for saga, x in driven(seed):
        decision = decide(saga, x, NOW)
        assert isinstance(decision, get_args(Decision)) and decision == decide(saga, x, NOW)


@few
@given(seeds)
def test_decisions_speak_of_what_is_there(seed: int) -> None:
    """Each path that is spoken of leads to a node of the saga."""
    for saga, x in driven(seed):
        decision = decide(saga, x, NOW)
        paths = [getattr(decision, "path", ""), *getattr(decision, "paths", ())]
        assert all(saga.node(path) is not None for path in paths if path), decision


@few
@given(seeds)
def test_advancing_comes_to_an_end(seed: int) -> None:
    """No change is made twice, and there are not more of them than there are nodes and records."""
    for saga, picture in driven(seed):
        x, seen = picture, list[str]()
        most = 10 + 4 * (len(x.records) + len(list(walk(saga.nodes))))
        while isinstance(decision := decide(saga, x, NOW), Change):
            seen.append(repr(decision))
            assert len(seen) <= most and seen.count(seen[-1]) == 1, seen
            x = change(saga, x, decision, NOW)


@few
@given(seeds)
def test_what_ran_fits_what_it_ran_in(seed: int) -> None:
    """Design §11. Every picture that the engine makes of a saga fits it, whatever its fingerprint says."""
    for saga, x in pictures(seed):
        assert fits(saga, x.but(fingerprint="another"), NOW), [one.path for one in x.records]


@few
@given(seeds, st.randoms())
def test_a_node_that_ran_and_is_gone_does_not_fit(seed: int, dice: Random) -> None:
    """Design §11. Where a node that has a record is called something else, nothing is guessed."""
    for saga, x in pictures(seed):
        if not x.records or x.unwinding:
            continue
        gone = dice.choice(x.records).name
        with registry.isolate():
            other = Saga(saga.name, *renamed(saga.nodes, gone, "another_name"))
        assert not fits(other, x.but(fingerprint="another"), NOW), gone


@few
@given(seeds)
def test_not_more_items_are_open_than_may_be(seed: int) -> None:
    """At most `concurrency` items of a loop have something open."""
    for saga, x in pictures(seed):
        most = {one.name: one.concurrency for one in walk(saga.nodes) if isinstance(one, ForEach)}
        open_items = {
            (one.path.partition(f"{loop}[")[0], loop, turn)
            for one in x.records
            if one.status in UNSETTLED
            for loop, turn in turns_of(one.path).items()
            if loop in most
        }
        for (_, loop), items in Counter((around, loop) for around, loop, _ in open_items).items():
            assert items <= most[loop]


@few
@given(seeds)
def test_what_began_began_in_order(seed: int) -> None:
    """Numbers of records are unique, and given in the order in which they began; a path has one record."""
    for _, x in pictures(seed):
        numbers = [one.seq for one in x.records]
        assert numbers == sorted(set(numbers)) and x.next_seq == len(numbers)
        assert len({one.path for one in x.records}) == len(numbers)


@few
@given(seeds)
def test_choices_stay(seed: int) -> None:
    """Design §8.9. What a compute chose is never asked again: it says the same ever after."""
    chosen: dict[tuple[int, str], str] = {}
    for _, world in stroll(seed):
        for e, x in enumerate(world.rows):
            for one in x.records:
                if one.kind == "compute" and one.status == StepStatus.COMPLETED:
                    assert chosen.setdefault((e, one.path), one.choice) == one.choice
