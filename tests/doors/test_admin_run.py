"""The run page as a whole: its pictures, its past moments, and that it stays small."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from time import process_time
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from saga_app import ForEach, Parallel, Saga, acting, clock, step, testing
from saga_app.core import registry
from saga_app.core.graph import graph_of
from saga_app.models import Execution, SagaVersion, StepRecord
from tests.doors import every_state

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_sagas() -> Iterator[None]:
    testing.clock.release()  # its moments are to differ
    with registry.isolate():
        yield


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    return client


def run_page(execution: Execution, query: str = "") -> str:
    return f"/admin/saga_app/execution/{execution.pk}/change/{query}"


def html(by: Client, execution: Execution, query: str = "") -> str:
    response = by.get(run_page(execution, query))
    assert response.status_code == 200
    return response.content.decode().partition('id="content-main"')[2]


def text_of(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())


def looped(count: int) -> Execution:
    @step(name="pack", attempts=1)
    def pack(item: int) -> int:
        return item

    def items() -> list[int]:
        return list(range(count))

    return testing.run(Saga("many", ForEach("item", items, pack, max_items=5000)))


def test_the_parts_are_in_the_order_in_which_an_operator_asks(root: Client) -> None:
    page = text_of(html(root, every_state.make("stuck going back")))
    wanted = ["Stuck: ", "Still undone", "What you can do", "Unwind plan", "Timeline", "Graph", "Moments", "Steps"]
    places = [page.index(words) for words in [*wanted, "Input and output", "History"]]
    assert places == sorted(places)


def test_the_timeline_has_a_bar_for_each_attempt_and_a_table_of_the_same(root: Client) -> None:
    page = html(root, every_state.make("stuck going back"))
    drawn = page.partition("saga-timeline")[2].partition("</svg>")[0]
    table = page.partition("The timeline as a table")[2].partition("</table>")[0]
    assert drawn.count("saga-failed") == 4  # two attempts of ship, two of the compensation of charge
    assert drawn.count("saga-fails") == 4  # and a mark on each, for those who do not see the colour
    assert drawn.count('class="saga-bar') == table.count("<tr>") - 1
    assert "Forward" in drawn and "Back" in drawn and "turned back" in drawn
    assert "attempt 2: raised" in table and 'href="?steps=1#step-2"' in table


def test_what_is_not_over_goes_on(root: Client) -> None:
    page = html(root, every_state.make("waiting"))
    assert "saga-waits saga-goes-on" in page and "so far" in page and "waits for its next attempt" in text_of(page)


def test_a_long_timeline_is_shown_in_pages(root: Client) -> None:
    execution = looped(250)
    first, second = html(root, execution), html(root, execution, "?timeline=2")
    assert "page 1 of 3" in text_of(first) and "page 2 of 3" in text_of(second)
    assert "item[0]/pack" in first.partition("saga-timeline")[2].partition("</svg>")[0]
    assert "item[0]/pack" not in second.partition("saga-timeline")[2].partition("</svg>")[0]
    for odd in ("0", "99", "-1", "x", "٣", "9" * 40):
        assert root.get(run_page(execution, f"?timeline={odd}")).status_code == 200


def test_the_timeline_begins_where_it_stopped(root: Client) -> None:
    execution = every_state.run(*[every_state.act(f"s{i}") for i in range(120)], broken="s119")
    assert "page 2 of" in text_of(html(root, execution))


def test_the_graph_says_of_each_node_what_became_of_it(root: Client) -> None:
    page = html(root, every_state.make("stuck going back"))
    graph = page.partition('class="saga-graph"')[2].partition("</svg>")[0]
    words = text_of(page.partition("The graph as a list")[2].partition("</ol>")[0])
    for state in ("completed", "compensation_failed", "compensated"):
        assert f"saga-is-{state}" in graph
    assert "reserve : completed charge : compensation failed ship : compensated end : not reached" in words


def test_a_graph_outlives_its_code(root: Client, django_capture_on_commit_callbacks: Any) -> None:
    """The shape of a saga is kept when it is first started."""
    with django_capture_on_commit_callbacks(execute=True):
        execution = every_state.make("stuck held")
    assert SagaVersion.objects.filter(saga="order").exists()
    with registry.isolate():
        page = html(root, execution)
        assert "saga-is-failed" in page
        SagaVersion.objects.all().delete()
        assert "its graph was not kept" in html(root, execution)


def test_past_moments_are_links(root: Client) -> None:
    """Back and forth, moment by moment, without a script: each shows what was then, and no verb."""
    execution = every_state.make("undone by hand")
    page, seen = html(root, execution), []
    while earlier := re.search(r'href="(\?at=[^"]*)" rel="prev"', page):
        page = html(root, execution, unescape(earlier[1]))
        assert "As it was at" in page and "/verb/" not in page and "csrfmiddlewaretoken" not in page
        seen.append(text_of(page.partition("saga-then")[2].partition("</section>")[0]))
    assert "pending" in seen[-1] and any("stuck" in one for one in seen) and any("running" in one for one in seen)
    assert "No step had begun." in page
    count = 1
    while later := re.search(r'href="(\?at=[^"]*)" rel="next"', page):
        page = html(root, execution, unescape(later[1]))
        count += 1
    assert count == len(seen) + 1


def test_a_past_moment_is_named_by_an_event_too(root: Client) -> None:
    execution = every_state.make("undone by hand")
    stuck = execution.events.get(type="stuck")
    page = html(root, execution, f"?at={stuck.pk}")
    assert "saga-status-stuck" in page and "a compensation failed" in text_of(page)
    assert "resolved by hand" not in text_of(page)
    graph = page.partition('class="saga-graph"')[2].partition("</svg>")[0]
    assert "saga-is-compensation_failed" in graph and "saga-is-resolved" not in graph


def test_the_slider_counts_moments(root: Client) -> None:
    execution = every_state.make("undone by hand")
    page = html(root, execution)
    last = int(re.search(r'type="range"[^>]*max="(\d+)"', page)[1])  # type: ignore[index]
    assert "pending" in text_of(html(root, execution, "?moment=1").partition("saga-then")[2][:600])
    assert "failed" in text_of(html(root, execution, f"?moment={last}").partition("saga-then")[2][:600])


@pytest.mark.parametrize(
    "query", ["at=nonsense", "at=0001-01-01T00:00:00%2B14:00", "at=99999", "at=9999-12-31", "moment=-1", "moment=0"]
)
@pytest.mark.parametrize("state", ["pending", "stuck going back", "completed"])
def test_no_moment_is_refused(root: Client, query: str, state: str) -> None:
    assert root.get(run_page(every_state.make(state), f"?{query}")).status_code == 200


@pytest.mark.parametrize("state", every_state.STATES)
def test_hostile_text_is_text_at_any_moment(root: Client, state: str) -> None:
    execution = every_state.make(state)
    for query in ("", "?moment=3", "?moment=99999"):
        page = root.get(run_page(execution, query)).content.decode()
        assert "<img src=x" not in page


def test_hostile_names_are_text_in_the_pictures(root: Client) -> None:
    """Whatever stands in the tables, even what no saga could be called."""
    execution = every_state.make("stuck going back")
    hostile = '</text></svg><script>alert(1)</script>"><img src=x onerror=alert(1)>\u202e'
    Execution.objects.filter(pk=execution.pk).update(saga=hostile[:100], failing_path=hostile)
    StepRecord.objects.filter(execution=execution, name="charge").update(path=hostile, name=hostile[:100])
    for query in ("", "?moment=99999", "?moment=5"):
        page = root.get(run_page(execution, query)).content.decode()
        assert "<script>alert" not in page and "<img src=x" not in page
    graph = graph_of(every_state.order(every_state.act("reserve")))
    for node in graph["nodes"]:
        node |= {"title": hostile, "lines": [hostile]}
    SagaVersion.objects.create(
        saga=hostile[:100],
        revision=1,
        fingerprint=execution.fingerprint,
        seen_at=clock.now(),
        graph_text=json.dumps({**graph, "title": hostile}),
    )
    page = html(root, execution)
    assert "&lt;/text&gt;" in page and "<script>alert" not in page and "<img src=x" not in page


@pytest.mark.parametrize("query", ["", "?moment=3"])
def test_a_page_needs_as_many_queries_for_many_steps(root: Client, query: str, django_assert_num_queries: Any) -> None:
    """Also at a past moment, for which nothing more is read."""
    expected = {"": 11, "?moment=3": 7}[query]
    for count in (3, 300):
        execution = looped(count)
        root.get(run_page(execution))
        with django_assert_num_queries(expected):
            root.get(run_page(execution, query))


def test_three_thousand_steps_make_a_page_that_loads_at_once(root: Client) -> None:
    execution = looped(3)
    like = StepRecord.objects.filter(execution=execution, kind="step").first()
    assert like is not None
    values = {field.attname: getattr(like, field.attname) for field in StepRecord._meta.concrete_fields}
    rows = [{**values, "id": None, "seq": seq, "path": f"item[{seq}]/pack"} for seq in range(10, 3010)]
    StepRecord.objects.bulk_create([StepRecord(**row) for row in rows])
    for query in ("", "?moment=3", "?timeline=9", "?steps=70"):
        began = process_time()
        page = root.get(run_page(execution, query))
        assert page.status_code == 200 and len(page.content) < 256 * 1024
        assert process_time() - began < 5  # it takes a tenth, where nobody else works


def test_two_hundred_steps_are_a_small_timeline(root: Client) -> None:
    page = html(root, looped(200))
    assert len(page.partition("saga-timeline")[2].partition("</svg>")[0]) < 64 * 1024


def test_the_head_of_what_is_over_tells_what_failed(root: Client) -> None:
    """And not how that step, too, was undone; of a group with several causes, the first."""
    page = html(root, every_state.make("failed"))
    head = text_of(page.partition("saga-cause-failed")[2].partition("</section>")[0])
    assert "ship (attempt 2 of 2)" in head and "OSError: ship is down" in head and "compensation" not in head
    both = Parallel(x=[every_state.act("b")], y=[every_state.act("c")])
    execution = every_state.run(every_state.act("a"), both, broken="b c ~a")
    execution.resolve("a", reason="by hand")
    testing.drain()
    head = text_of(html(root, execution).partition("saga-cause-failed")[2].partition("</section>")[0])
    assert re.search(r"\b[bc] \(attempt 2 of 2\)", head) and "a (" not in head


def test_what_is_undone_is_told_lane_by_lane(root: Client) -> None:
    execution = every_state.run(
        every_state.act("a"),
        Parallel(x=[every_state.act("b")], y=[every_state.act("c"), every_state.act("d")]),
        every_state.act("e"),
        broken="e ~c",
    )
    undone = text_of(html(root, execution).partition("Still undone")[2].partition("</section>")[0])
    assert "c " in undone and "a " in undone and " b " not in undone
    assert acting.facts_of(execution).known("b").compensation_status == "compensated"


def test_what_moves_is_brought_up_to_date_and_forms_are_not(root: Client) -> None:
    page = html(root, every_state.make("waiting"))
    for part in re.findall(
        r"<div id=\"saga-[a-z]+\" data-saga-live.*?(?=<div id=\"saga-|<section class=\"saga-panel saga-moments|$)",
        page,
        re.DOTALL,
    ):
        assert "<form" not in part
    assert 'data-saga-live="final"' in html(root, every_state.make("failed"))
