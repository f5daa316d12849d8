"""The kit that users test their sagas with: run, drain, the clock, contexts, swapped bodies, isolation."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connection, transaction
from django.test import TestCase

from saga_app import Context, InputError, NotReady, Saga, UnknownSaga, clock, engine, step, testing
from saga_app.core import registry
from saga_app.models import Execution
from tests.site.models import Order


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with testing.isolate_sagas():
        yield
    testing.clock.release()


@step(attempts=1)
def double(number: int) -> int:
    return number * 2


@pytest.mark.django_db
class TestRun:
    def test_it_leaves_real_records(self):
        execution = testing.run(Saga("s", double), number=21)
        assert execution.status == "completed"
        assert [(r.path, r.status, r.output) for r in execution.steps.all()] == [("double", "completed", 42)]
        assert execution.events.filter(type="start").exists()

    def test_the_callers_transaction_stays_as_it_was(self):
        """Case C10 (in a TestCase): what the test wrote is still there, and the transaction still open."""
        Order.objects.create()
        assert testing.run(Saga("s", double), number=1).status == "completed"
        assert Order.objects.count() == 1
        assert connection.in_atomic_block

    def test_an_atomic_step_works_inside_the_tests_transaction(self):
        @step(atomic=True)
        def book() -> int:
            return Order.objects.create().pk

        @step(atomic=True, attempts=1)
        def fail() -> None:
            Order.objects.create(sku="never")
            raise ValueError

        assert testing.run(Saga("s", book, fail)).status == "failed"
        assert [order.sku for order in Order.objects.all()] == ["A1"]

    def test_what_a_body_raises_is_told_and_not_raised(self):
        with testing.replace(double, lambda: 1 / 0):
            execution = testing.run(Saga("s", double), number=1)
        assert (execution.status, execution.error.type) == ("failed", "ZeroDivisionError")

    def test_an_input_that_does_not_fit_is_raised(self):
        with pytest.raises(InputError):
            testing.run(Saga("s", double), numbr=1)
        assert not Execution.objects.exists()

    def test_a_key_names_one_execution(self):
        saga = Saga("s", double)
        assert testing.run(saga, number=1, key="k").pk == testing.run(saga, number=1, key="k").pk

    def test_only_the_kit_may_drive_inside_a_transaction(self):
        """Outside of run() the refusal is as ever."""
        saga = Saga("s", double)
        testing.run(saga, number=1)
        with transaction.atomic(), pytest.raises(NotReady):
            saga.run(number=1)

    def test_drain_drives_whatever_is_due(self):
        saga = Saga("s", double)
        started = [saga.start(number=n) for n in range(3)]
        assert testing.drain() == 3
        assert {Execution.objects.get(pk=x.pk).status for x in started} == {"completed"}
        assert testing.drain() == 0


@pytest.mark.django_db(transaction=True)
def test_run_works_outside_of_a_transaction_too():
    assert testing.run(Saga("s", double), number=1).status == "completed"


class InATestCase(TestCase):
    """The same under unittest, without pytest's help."""

    def test_run(self):
        execution = testing.run(Saga("s", double), number=2)
        self.assertEqual("completed", execution.status)  # noqa: PT009

    def test_nothing_is_left_over_from_other_tests(self):
        self.assertFalse(Execution.objects.exists())  # noqa: PT009


class TestMakeContext:
    def test_it_is_plausible(self):
        ctx = testing.make_context()
        assert isinstance(ctx, Context)
        assert ctx.idempotency_key == f"saga:{ctx.execution_id}:step:forward"
        assert (ctx.attempt, ctx.outcome, ctx.cancel_requested) == (1, "", False)
        assert ctx.deadline > clock.now()
        ctx.progress(0.5, "half")

    def test_every_field_can_be_given(self):
        ctx = testing.make_context(path="pay", attempt=3, outcome="unknown", ask_cancelled=lambda: True)
        assert (ctx.attempt, ctx.outcome, ctx.cancel_requested) == (3, "unknown", True)
        assert ctx.idempotency_key.endswith(":pay:forward")

    def test_a_field_that_a_context_does_not_have(self):
        with pytest.raises(TypeError, match="atempt"):
            testing.make_context(atempt=3)


@pytest.mark.django_db
class TestReplace:
    def test_every_copy_of_the_step_calls_the_new_function(self):
        twice = double.bind(number=5).named("again")
        with testing.replace(double, lambda number: number + 1):
            execution = testing.run(Saga("s", double, twice), number=1)
        assert [record.output for record in execution.steps.all()] == [2, 6]
        assert double(4) == 8, "and the old one is back"

    def test_it_takes_the_arguments_that_it_has_parameters_for(self):
        @step
        def three(a: int, b: int, ctx: Context) -> int:
            raise AssertionError

        for function, expected in [
            (lambda: 0, 0),
            (lambda b: b, 2),
            (lambda **all: sorted(all), ["a", "b", "ctx"]),
            (lambda a, c=7: a + c, 8),
            (lambda ctx: ctx.path, "three"),
        ]:
            with testing.isolate_sagas(), testing.replace(three, function):
                assert testing.run(Saga("s", three), a=1, b=2).steps.get().output == expected

    def test_calls_by_position_work_too(self):
        with testing.replace(double, lambda number: number):
            assert double(3) == double(number=3) == 3

    def test_it_may_be_async_or_replace_what_is(self):
        @step
        async def slow() -> str:
            return "slow"

        async def quick() -> str:
            return "quick"

        for function in (quick, lambda: "quick"):
            with testing.isolate_sagas(), testing.replace(slow, function):
                assert testing.run(Saga("s", slow)).steps.get().output == "quick"
        with testing.replace(double, quick):
            assert testing.run(Saga("t", double), number=1).steps.get().output == "quick"

    def test_a_parameter_that_nobody_fills_is_refused(self):
        with pytest.raises(TypeError, match="amount"), testing.replace(double, lambda amount: amount):
            pass
        assert double(1) == 2

    def test_a_mock_is_a_function(self):
        from unittest.mock import Mock

        mock = Mock(return_value=9)
        with testing.replace(double, mock):
            testing.run(Saga("s", double), number=1)
        mock.assert_called_once_with(number=1)

    def test_they_nest(self):
        with testing.replace(double, lambda: 1):
            with testing.replace(double, lambda: 2):
                assert double(0) == 2
            assert double(0) == 1

    def test_an_error_inside_the_block_brings_the_old_one_back(self):
        with pytest.raises(KeyError), testing.replace(double, lambda: 1):
            raise KeyError
        assert double(2) == 4


class TestIsolateSagas:
    def test_sagas_inside_are_unknown_outside_and_the_other_way_round(self):
        outside = Saga("outside", double)
        with testing.isolate_sagas():
            inside = Saga("inside", double)
            assert registry.latest("inside") is inside
            with pytest.raises(UnknownSaga):
                registry.latest("outside")
        assert registry.latest("outside") is outside
        with pytest.raises(UnknownSaga):
            registry.latest("inside")

    def test_a_later_saga_takes_the_earlier_ones_place(self):
        Saga("s", double)
        later = Saga("s", double.named("other"))
        assert registry.latest("s") is later
        later.seal()


@pytest.mark.django_db
def test_an_operator_can_act_between_two_drives():
    """Verbs, the clock and drain together tell a whole story in one test."""

    @step(attempts=1)
    def parcel() -> None:
        raise OSError

    saga = Saga("s", double, parcel, on_failure="hold")
    stuck = testing.run(saga, number=1)
    assert (stuck.status, stuck.stuck_reason) == ("stuck", "step_failed")
    with testing.replace(parcel, lambda: None):
        engine.resume(stuck, reason="mended")
        testing.drain()
    assert Execution.objects.get(pk=stuck.pk).status == "completed"
