"""What a batch may do next, and what a preview counts: laws over all statuses, sizes and rates."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_app.core import batching, previewing, verbs
from saga_app.core.batching import BATCH_VERBS, ENDED, MOST_AT_ONCE, PACE, Act, BatchStatus
from saga_app.core.previewing import Group, preview, why_not
from saga_app.core.status import Status, StuckReason

rates = st.none() | st.floats(min_value=0.001, max_value=10_000)


@pytest.mark.parametrize("status", BatchStatus)
def test_what_has_ended_stays_ended(status: BatchStatus) -> None:
    """Nobody can do anything with an ended batch; with every other one somebody can, or it goes on by itself."""
    assert (batching.offered(status) == ()) == (status in ENDED)


@given(st.lists(st.sampled_from(Act), max_size=30))
def test_a_life_of_a_batch(acts: list[Act]) -> None:
    """Whatever is tried in whatever order: it runs only after somebody began it, and only `begin` leaves the draft."""
    status = BatchStatus.DRAFT
    for act in acts:
        after = batching.moved(act, status)
        if after is None:
            continue
        assert status not in ENDED
        assert (status == BatchStatus.DRAFT) == (act == Act.BEGIN)
        assert after != BatchStatus.DRAFT
        assert (after == BatchStatus.RUNNING) == (act in (Act.BEGIN, Act.GO_ON))
        status = after


@given(
    size=st.integers(min_value=1, max_value=2_000),
    canary=st.integers(min_value=0, max_value=300),
    rate=rates,
)
def test_all_items_are_done_once_and_the_canary_is_kept(size: int, canary: int, rate: float | None) -> None:
    """However a batch is cut into goes: it holds after exactly the canary, once, and ends after exactly all of them."""
    done, held, asked = 0, [], canary
    while True:
        count = batching.at_once(done=done, canary=canary, rate=rate)
        assert 1 <= count <= MOST_AT_ONCE
        then = None
        for _ in range(count):
            done += 1
            then = batching.after_item(done=done, canary=canary, more=done < size)
            if then is not None:
                break
        if then == Act.COMPLETE:
            break
        if then == Act.HOLD:
            held.append(done)
            canary = 0
    assert done == size
    assert held == ([asked] if 0 < asked < size else [])


@given(canary=st.integers(min_value=1, max_value=100), more=st.booleans())
def test_a_canary_as_large_as_the_batch_asks_nobody(canary: int, more: bool) -> None:
    """With nothing left there is no rest to ask about."""
    assert batching.after_item(done=canary, canary=canary, more=more) == (Act.HOLD if more else Act.COMPLETE)
    assert batching.after_item(done=canary - 1, canary=canary, more=True) is None


@given(rate=st.floats(min_value=0.001, max_value=10_000), goes=st.integers(min_value=1, max_value=50))
def test_a_rate_is_never_exceeded_over_time(rate: float, goes: int) -> None:
    """So many goes, each as soon as it may: no more items than the rate allows, but for those of the last go."""
    elapsed, made, count = 0.0, 0, 0
    for _ in range(goes):
        count = batching.at_once(done=made, canary=0, rate=rate)
        made += count
        elapsed += batching.pause_after(count, rate)
    assert made - count <= rate * (elapsed - batching.pause_after(count, rate)) * (1 + 1e-9) + 1e-9
    assert count <= max(1, rate * PACE)


groups = st.builds(
    Group,
    count=st.integers(min_value=1, max_value=50),
    status=st.sampled_from(list(Status)).map(str),
    stuck_reason=st.sampled_from(list(StuckReason)).map(str),
    pivoted=st.booleans(),
    unwinding=st.booleans(),
    cancel_requested=st.booleans(),
    suspend_requested=st.booleans(),
    held=st.booleans(),
    backs_off=st.booleans(),
    changed=st.booleans(),
    known=st.booleans(),
)


@given(verb=st.sampled_from(BATCH_VERBS), some=st.lists(groups, max_size=12))
def test_a_preview_counts_each_execution_once(verb: str, some: list[Group]) -> None:
    """Eligible and refused are all of them; the commonest reason stands first."""
    found = preview(verb, some)
    assert found.eligible + sum(found.refused.values()) == sum(group.count for group in some)
    assert list(found.refused.values()) == sorted(found.refused.values(), reverse=True)


@given(verb=st.sampled_from(BATCH_VERBS), group=groups)
def test_a_preview_gives_the_reason_the_verb_would_give(verb: str, group: Group) -> None:
    """The same rules: asked of the same facts, the verb's own eligibility says the same."""
    own = verbs.eligibility(verb, previewing._picture(group), held=group.held)
    code = why_not(verb, group)
    if not own:
        assert code == own.code
    else:
        assert code in ("", previewing.CHANGED, previewing.UNKNOWN)
        assert (code == previewing.CHANGED) == (group.changed and verb in verbs.GUARDED)


def test_every_verb_of_a_batch_can_be_allowed() -> None:
    """For each there is a state in which it may be used."""
    states = [
        Group(count=1, status=status, stuck_reason=reason)
        for status, reason in product(map(str, Status), ("", "step_failed"))
        if (status == "stuck") == bool(reason)
    ]
    assert all(preview(verb, states).eligible for verb in BATCH_VERBS)
