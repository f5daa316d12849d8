"""Groups, workers and health over HTTP: what they say, who may, and that they cost the same however much there is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.test import Client

from saga_app import clock, testing
from saga_app.models import Execution, Worker
from saga_app.store import workers
from tests.doors import http
from tests.doors.http import client, is_problem, saga_queries

pytestmark = pytest.mark.django_db
V1 = "/api/saga/v1/"
WHOLE = ("groups", "workers", "health")


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with testing.isolate_sagas():
        yield
    testing.clock.release()


@pytest.fixture
def api() -> Client:
    return client("view")


@pytest.mark.parametrize("part", WHOLE)
class TestEach:
    def test_who_may(self, part: str) -> None:
        is_problem(Client().get(f"{V1}{part}/"), 403, "not_authenticated")
        is_problem(client("start", "resume", "batch").get(f"{V1}{part}/"), 403, "permission_denied")
        assert client("view").get(f"{V1}{part}/").status_code == 200

    def test_only_get(self, api: Client, part: str) -> None:
        for method in ("post", "put", "patch", "delete", "options"):
            is_problem(getattr(api, method)(f"{V1}{part}/"), 405, "method_not_allowed")

    def test_it_is_one_query_however_much_there_is(self, api: Client, part: str) -> None:
        workers.seen("a", [1], "default")
        for count in (1, 5):
            for _ in range(count):
                http.stuck()
            workers.seen("b", range(2, 2 + count), "default")
            assert len(saga_queries(lambda: api.get(f"{V1}{part}/"))) == 1


class TestGroups:
    def test_one_cause_is_one_group(self, api: Client) -> None:
        first, second, late = http.stuck(), http.stuck(), http.stuck_past_pivot()
        second.resume()
        testing.drain()
        said = api.get(f"{V1}groups/").json()
        big, small = said["results"]
        assert said["more"] is False
        assert (big["cause"], big["count"], big["again"], big["lately"]) == (first.cause, 2, 1, 2)
        assert (big["saga"], big["failing_path"], big["stuck_reason"]) == ("hold", "fail", "step_failed")
        assert big["error"] == {"type": "ValueError", "message": "it broke"}
        assert (small["sample"], small["direction"]) == (str(late.pk), "forward")

    def test_one_that_goes_back_says_so(self, api: Client) -> None:
        execution = http.compensating()
        testing.clock.forward(timedelta(hours=2))
        testing.drain()
        assert Execution.objects.get(pk=execution.pk).status == "stuck"
        (row,) = api.get(f"{V1}groups/").json()["results"]
        assert (row["direction"], row["error"]["type"]) == ("compensate", "OSError")

    @pytest.mark.parametrize("size", ["0", "201", "x", "", "%00"])
    def test_what_cannot_be_is_refused(self, api: Client, size: str) -> None:
        http.stuck()
        http.stuck_past_pivot()
        is_problem(api.get(f"{V1}groups/?page_size={size}"), 400, "invalid_query")
        said = api.get(f"{V1}groups/?page_size=1").json()
        assert (len(said["results"]), said["more"]) == (1, True)


class TestWorkers:
    def test_they_say_how_they_are(self, api: Client) -> None:
        workers.seen("a", [1, 2], "default")
        workers.seen("b", [3], "labels@1")
        Worker.objects.filter(pid=2).update(seen_at=clock.now() - timedelta(minutes=5))
        workers.wedged("b", "labels@1", is_so=True)
        rows = api.get(f"{V1}workers/").json()["results"]
        assert [(row["id"], row["state"]) for row in rows] == [("a:1", "alive"), ("a:2", "gone"), ("b:3", "wedged")]
        assert rows[2]["queue"] == "labels"


class TestHealth:
    def test_nothing_due_is_well(self, api: Client) -> None:
        http.stuck()
        assert api.get(f"{V1}health/").json() == {
            "workers": 0,
            "wedged": 0,
            "due": [],
            "stuck": 1,
            "stuck_lately": 1,
        }

    def test_due_and_nobody_works(self, api: Client) -> None:
        http.pending()
        problem = is_problem(api.get(f"{V1}health/"), 503, "nobody_works")
        assert (problem["workers"], problem["due"][0]["count"]) == (0, 1)

    def test_due_and_somebody_works(self, api: Client) -> None:
        http.pending()
        workers.seen("a", [1], "")
        said = api.get(f"{V1}health/")
        assert (said.status_code, said.json()["workers"], said.json()["due"][0]["queue"]) == (200, 1, "")

    def test_workers_that_take_nothing_do_not_work(self, api: Client) -> None:
        http.pending()
        workers.seen("a", [1], "")
        workers.wedged("a", "", is_so=True)
        assert is_problem(api.get(f"{V1}health/"), 503, "nobody_works")["wedged"] == 1

    def test_workers_of_another_queue_do_not_work_for_this_one(self, api: Client) -> None:
        http.buy().using(queue="labels").start(http.Purchase("A1", 2))
        workers.seen("a", [1], "")
        assert "labels" in is_problem(api.get(f"{V1}health/"), 503, "nobody_works")["detail"]
