"""Each verb through its confirm page: what it shows, what it does, what it leaves on record, and who was first."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client

from saga_app import Saga, ref, step, testing
from saga_app.core import registry
from saga_app.core.verbs import VERBS
from saga_app.models import Event, Execution
from tests.doors import every_state
from tests.doors.confirm_page import USES, hidden_fields, open_form, run_url, use, verb_url

pytestmark = pytest.mark.django_db
WHY = "because <i>I</i> say so"


@pytest.fixture(autouse=True)
def own_sagas():
    with registry.isolate():
        yield


@pytest.fixture
def anna(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("anna"))
    return client


@pytest.fixture
def bob() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("bob"))
    return client


def test_every_verb_is_tried_here() -> None:
    assert set(USES) == set(VERBS)


@pytest.mark.parametrize("verb", USES)
def test_a_verb_is_done_and_kept_on_record(anna: Client, verb: str) -> None:
    state, filled, status = USES[verb]
    execution = every_state.make(state)
    answer = use(anna, execution, verb, reason=WHY, **filled)
    assert answer.status_code == 302
    after = Execution.objects.get(pk=answer.url.split("/")[-3])
    assert after.status == status
    assert (after.pk == execution.pk) == (verb != "rerun")
    event = Event.objects.filter(execution=execution, type=verb).get()
    assert (event.actor.username, event.actor_name, event.reason) == ("anna", "anna", WHY)
    entry = LogEntry.objects.get()
    assert (entry.get_edited_object(), entry.user.username) == (execution, "anna")
    assert entry.change_message == f"{verb}: {WHY}"
    page = anna.get(answer.url).content.decode()
    assert "accepted" in page
    history = anna.get(run_url(execution)).content.decode().partition('id="saga-history"')[2]
    assert "because &lt;i&gt;I&lt;/i&gt; say so" in history
    assert "because" in anna.get(f"{run_url(execution)[:-7]}history/").content.decode()  # Django's own page


def test_a_resumed_execution_goes_on(anna: Client) -> None:
    execution = every_state.make("stuck going back")
    every_state.down.clear()
    use(anna, execution, "resume")
    testing.drain()
    execution = every_state.again(execution)
    assert (execution.status, execution.rollback_status) == ("failed", "completed")


@pytest.mark.parametrize(("happened", "status"), [("yes", "completed"), ("no", "skipped")])
def test_skip_says_what_happened(anna: Client, happened: str, status: str) -> None:
    execution = every_state.make("stuck past the pivot")
    answer = use(anna, execution, "skip", reason="seen in their system", happened=happened, output='{"answer": "x"}')
    assert answer.status_code == 302
    testing.drain()
    record = execution.steps.get(path="ship")
    assert (record.status, record.output) == (status, {"answer": "x"} if happened == "yes" else None)
    assert every_state.again(execution).status == "completed"


@pytest.mark.parametrize("output", ["{", "text", "NaN?", "[1,", "[" * 100_000])
def test_skip_refuses_an_output_that_is_no_json(anna: Client, output: str) -> None:
    execution = every_state.make("stuck past the pivot")
    answer = use(anna, execution, "skip", reason="r", happened="yes", output=output)
    assert (answer.status_code, "This is not JSON" in answer.content.decode()) == (200, True)
    assert every_state.again(execution).status == "stuck"


def skipping(anna: Client, body: Any, output: str) -> tuple[Any, Execution]:
    """A step that does not return, and what an operator says it did."""
    execution = testing.run(Saga("typed", step(name="ask", attempts=1)(body), on_failure="hold", output=ref("ask")))
    answer = use(anna, execution, "skip", reason="r", happened="yes", output=output)
    testing.drain()
    return answer, every_state.again(execution)


def ask() -> Any:
    raise OSError


def ask_price() -> Decimal | None:
    raise OSError


def ask_day() -> date:
    raise OSError


def ask_prices() -> dict[str, Decimal]:
    raise OSError


def test_skip_refuses_an_output_that_cannot_be_stored(anna: Client) -> None:
    answer, execution = skipping(anna, ask, "[Infinity]")
    assert answer.status_code == 409
    assert "This output cannot be stored" in answer.content.decode()
    assert execution.status == "stuck"


@pytest.mark.parametrize(
    ("body", "output", "value"),
    [
        (ask, "[1]", [1]),
        (ask_price, "9.90", Decimal("9.90")),
        (ask_price, "", None),
        (ask_day, "2026-02-28", date(2026, 2, 28)),
        (ask_prices, '{"a": "1.50"}', {"a": Decimal("1.50")}),
    ],
)
def test_skip_takes_what_the_step_would_have_returned(anna: Client, body: Any, output: str, value: Any) -> None:
    """An amount or a day is no JSON: the step says what it returns, and later steps see that."""
    answer, execution = skipping(anna, body, output)
    assert (answer.status_code, execution.status) == (302, "completed")
    assert (execution.output, type(execution.output)) == (value, type(value))


@pytest.mark.parametrize(("body", "output"), [(ask_price, "much"), (ask_day, "2026-02-30"), (ask_prices, '{"a": "x"}')])
def test_skip_refuses_what_the_step_could_not_have_returned(anna: Client, body: Any, output: str) -> None:
    answer, execution = skipping(anna, body, output)
    assert (answer.status_code, "errorlist" in answer.content.decode()) == (200, True)
    assert execution.status == "stuck"


@pytest.mark.parametrize("verb", ["skip", "resolve", "abandon"])
@pytest.mark.parametrize("reason", ["", "   "])
def test_a_verb_that_needs_a_reason_asks_for_it(anna: Client, verb: str, reason: str) -> None:
    state, filled, _ = USES[verb]
    execution = every_state.make(state)
    answer = use(anna, execution, verb, reason=reason, **filled)
    assert (answer.status_code, "This field is required" in answer.content.decode()) == (200, True)
    assert every_state.again(execution).version == execution.version
    assert not LogEntry.objects.exists()


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("method", ["get", "head", "options", "put", "delete"])
def test_nothing_but_a_post_changes_anything(anna: Client, verb: str, method: str) -> None:
    execution = every_state.make(USES[verb][0])
    before = list(Execution.objects.values()), Event.objects.count()
    getattr(anna, method)(f"{verb_url(execution, verb)}?reason=r&version={execution.version}&happened=yes")
    assert (list(Execution.objects.values()), Event.objects.count()) == before


def test_the_run_page_takes_no_post(anna: Client) -> None:
    execution = every_state.make("stuck held")
    assert anna.post(run_url(execution), {"saga": "x"}).status_code == 405
    assert every_state.again(execution).version == execution.version


@pytest.mark.parametrize("verb", ["resume", "skip", "resolve", "unwind", "abandon"])
def test_a_race_keeps_the_form_and_says_who_was_first(anna: Client, bob: Client, verb: str) -> None:
    """Bob looked before Anna acted; what he wrote is not lost, and nothing of his was done."""
    state, filled, _ = USES[verb]
    execution = every_state.make(state)
    seen = open_form(bob, execution, verb)
    assert use(anna, execution, "abandon", reason="first").status_code == 302
    answer = bob.post(verb_url(execution, verb), {**seen, "reason": "my long reason", **filled})
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "anna was first: abandon" in page
    assert "my long reason" in page
    assert "This cannot be done now" in page  # it has ended meanwhile
    assert [e.actor_name for e in Event.objects.filter(execution=execution).exclude(actor=None)] == ["anna"]
    assert LogEntry.objects.count() == 1


def test_after_a_race_one_may_decide_again(anna: Client, bob: Client) -> None:
    execution = every_state.make("stuck going back")
    seen = open_form(bob, execution, "abandon")
    use(anna, execution, "resume")
    testing.drain()  # and it is stuck again
    answer = bob.post(verb_url(execution, "abandon"), {**seen, "reason": "enough"})
    assert (answer.status_code, "anna was first: resume" in answer.content.decode()) == (409, True)
    again = bob.post(verb_url(execution, "abandon"), {**hidden_fields(answer), "reason": "enough"})
    assert again.status_code == 302
    assert every_state.again(execution).rollback_status == "abandoned"


def test_a_form_that_was_not_filled_in_still_knows_what_was_seen(anna: Client, bob: Client) -> None:
    """Sending it without a reason must not slip the newer version in."""
    execution = every_state.make("stuck going back")
    seen = open_form(bob, execution, "abandon")
    use(anna, execution, "resume")
    testing.drain()
    incomplete = bob.post(verb_url(execution, "abandon"), {**seen, "reason": ""})
    assert hidden_fields(incomplete)["version"] == seen["version"]


@pytest.mark.parametrize("version", ["", "x", "1e3", "-1", "99999999999999999999"])
def test_a_version_that_nobody_saw_does_nothing(anna: Client, version: str) -> None:
    execution = every_state.make("stuck going back")
    answer = use(anna, execution, "abandon", reason="r", version=version)
    assert answer.status_code in (200, 409)
    assert every_state.again(execution).status == "stuck"


def test_clicking_twice_is_refused_the_second_time(anna: Client) -> None:
    execution = every_state.make("stuck going back")
    filled = {**open_form(anna, execution, "resume"), "reason": ""}
    assert anna.post(verb_url(execution, "resume"), filled).status_code == 302
    assert anna.post(verb_url(execution, "resume"), filled).status_code == 409
    assert Event.objects.filter(type="resume").count() == 1


def test_clicking_rerun_twice_starts_one(anna: Client) -> None:
    execution = every_state.make("failed")
    page = anna.get(verb_url(execution, "rerun"))
    filled = {**hidden_fields(page), "key": page.context["form"]["key"].value(), "reason": ""}
    assert anna.post(verb_url(execution, "rerun"), filled).status_code == 302
    assert anna.post(verb_url(execution, "rerun"), filled).status_code == 409
    assert Execution.objects.count() == 2


def test_a_verb_that_is_refused_says_why_and_offers_no_button(anna: Client) -> None:
    execution = every_state.make("completed")
    page = anna.get(verb_url(execution, "resume")).content.decode()
    assert "This cannot be done now. It has ended" in page
    assert 'type="submit" class="saga-button' not in page
    answer = anna.post(verb_url(execution, "resume"), {"version": execution.version, "reason": ""})
    assert (answer.status_code, "It has ended" in answer.content.decode()) == (409, True)


def test_no_other_word_is_a_verb(anna: Client) -> None:
    execution = every_state.make("stuck held")
    for verb in ("delete", "start", "drive", "eligibility", "__class__"):
        assert anna.post(verb_url(execution, verb), {"version": execution.version, "reason": "r"}).status_code == 404


def test_abandon_shows_the_damage_and_the_plan(anna: Client) -> None:
    page: Any = anna.get(verb_url(every_state.make("stuck going back"), "abandon")).content.decode()
    assert "What is still undone stays as it is" in page
    assert page.index("Still undone") < page.index("which you give up") < page.index("<textarea")


def test_a_step_is_named_that_is_not_the_stuck_one(anna: Client) -> None:
    execution = every_state.make("stuck going back")
    for path in ("reserve", "nonsense", "ship"):
        answer = use(anna, execution, "resolve", reason="r", path=path)
        assert answer.status_code == 409
    assert every_state.again(execution).version == execution.version
