"""Pages of the list: each execution once, whatever is started meanwhile, and each page as cheap as the first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from urllib.parse import quote

import pytest
from django.test import Client

from saga_app import testing
from tests.doors import http
from tests.doors.http import ROOT, client, is_problem, saga_queries
from tests.doors.test_api_reading import MAY

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with testing.isolate_sagas():
        yield
    testing.clock.release()


@pytest.fixture
def api() -> Client:
    return client("view")


class TestPages:
    def everything(self, api, query="page_size=3") -> list[str]:
        """Follow `next` to the end, then `previous` back: both ways must see the same."""
        pages = [api.get(f"{ROOT}?{query}").json()]
        while pages[-1]["next"]:
            pages.append(api.get(pages[-1]["next"]).json())
        back = [pages[-1]]
        while back[-1]["previous"]:
            back.append(api.get(back[-1]["previous"]).json())
        assert [page["results"] for page in reversed(back)] == [page["results"] for page in pages]
        assert pages[0]["previous"] is None
        return [row["id"] for page in pages for row in page["results"]]

    @pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 6, 7])
    def test_both_ways_at_every_length(self, api, count):
        started = [http.pending() for _ in range(count)]
        assert self.everything(api) == [str(x.pk) for x in reversed(started)]

    def test_executions_of_one_instant_are_neither_lost_nor_repeated(self, api):
        testing.clock.set(MAY)
        started = {str(http.pending().pk) for _ in range(10)}
        testing.clock.forward(timedelta(microseconds=1))
        newer = str(http.pending().pk)
        seen = self.everything(api)
        assert seen[0] == newer
        assert (set(seen), len(seen)) == (started | {newer}, 11)

    def test_what_is_started_meanwhile_shifts_nothing(self, api):
        started = [str(http.pending().pk) for _ in range(6)]
        first = api.get(f"{ROOT}?page_size=3").json()
        http.pending()
        second = api.get(first["next"]).json()
        assert [row["id"] for row in [*first["results"], *second["results"]]] == started[::-1]

    def test_the_links_keep_the_filters(self, api):
        for _ in range(3):
            http.pending()
            http.stuck()
        assert len(self.everything(api, "page_size=1&status=stuck")) == 3

    def test_a_page_is_one_query_however_far_back(self, api):
        for _ in range(7):
            http.pending()
        address = f"{ROOT}?page_size=2"
        while address:
            assert len(saga_queries(lambda at=address: api.get(at))) == 1
            address = api.get(address).json()["next"]

    @pytest.mark.parametrize(
        "text",
        [
            "older",
            "older 2024-05-01T12:00:00+00:00",
            "older 2024-05-01T12:00:00+00:00 nonsense",
            "sideways 2024-05-01T12:00:00+00:00 01890a5d-ac96-774b-bcce-b302099a8057",
            "older 0001-01-01T00:00:00+14:00 01890a5d-ac96-774b-bcce-b302099a8057",
            "older 99999-01-01 01890a5d-ac96-774b-bcce-b302099a8057",
            "\x00 \x00 \x00",
            "é",
        ],
    )
    def test_a_cursor_of_somebody_elses_making(self, api, text):
        from base64 import urlsafe_b64encode

        word = quote(urlsafe_b64encode(text.encode()).decode())
        is_problem(api.get(f"{ROOT}?cursor={word}"), 400, "invalid_query")

    def test_json_is_what_comes(self, api):
        http.pending()
        response = api.get(ROOT)
        assert response["Content-Type"] == "application/json"
        json.loads(response.content)
