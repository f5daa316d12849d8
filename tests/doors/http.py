"""What the tests of the HTTP API share: clients of different people, sagas by what they do, executions by status."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from saga_app import Backoff, Context, Pivot, Saga, engine, step, testing
from saga_app.models import Execution

ROOT = "/api/saga/v1/executions/"
PROBLEM = "application/problem+json"
VERBS = ("resume", "abandon", "cancel")
MORE_VERBS = ("suspend", "unwind", "skip", "resolve", "rerun", "fork", "move", "signal", "approve", "reject")
ALL_VERBS = (*VERBS, *MORE_VERBS)


def user(*permissions: str, name: str = "") -> User:
    """A user who holds these permissions of the app and no other."""
    made = User.objects.create_user(name or "-".join(permissions) or "nobody", password="secret")
    made.user_permissions.set(Permission.objects.filter(codename__in=[f"{word}_execution" for word in permissions]))
    assert made.user_permissions.count() == len(permissions)
    return made


def client(*permissions: str) -> Client:
    """A browser's or program's client for such a user."""
    made = Client()
    made.force_login(user(*permissions))
    return made


def client_named(name: str, *permissions: str) -> Client:
    """The same, of somebody with a name of their own."""
    made = Client()
    made.force_login(user(*permissions, name=name))
    return made


def post(by: Client, path: str, body: Any = None) -> Any:
    """POST a value as JSON, or bytes as they are."""
    return by.post(path, body if isinstance(body, bytes) else {} if body is None else body, "application/json")


def one(execution: Execution, verb: str = "") -> str:
    return f"{ROOT}{execution.pk}/{verb}/" if verb else f"{ROOT}{execution.pk}/"


def is_problem(response: Any, status: int, code: str) -> dict[str, Any]:
    """Assert that the response is that problem, and return it."""
    assert response["Content-Type"] == PROBLEM, response.content
    problem: dict[str, Any] = response.json()
    assert (response.status_code, problem["code"]) == (status, code), problem
    assert {"type", "title", "status", "detail"} <= problem.keys()
    assert problem["status"] == status
    return problem


def saga_queries(action: Callable[[], Any]) -> list[str]:
    """The statements on our tables that the action sends."""
    with CaptureQueriesContext(connection) as captured:
        action()
    return [query["sql"] for query in captured.captured_queries if '"saga_app_' in query["sql"]]


@dataclass
class Purchase:
    sku: str
    quantity: int
    total: Decimal = Decimal("9.99")


@step(attempts=1)
def take(sku: str, quantity: int) -> str:
    return f"{quantity} x {sku}"


@take.compensate(attempts=1)
def put_back() -> None:
    """Nothing to undo in the world."""


@step(attempts=1)
def fail(message: str = "it broke") -> None:
    raise ValueError(message)


@step(attempts=3, backoff=Backoff(first=3600, max=3600, jitter=0))
def later() -> None:
    raise OSError("not now")


def buy() -> Saga[Any]:
    return Saga("buy", take, input=Purchase)


GIVEN = {"sku": "A1", "quantity": 2}


def pending() -> Execution:
    return buy().start(Purchase("A1", 2))


def waiting() -> Execution:
    testing.clock.forward(0)
    return testing.run(Saga("wait", later))


def suspended() -> Execution:
    execution = buy().start(Purchase("A1", 2))
    engine.suspend(execution)
    testing.drain()
    return Execution.objects.get(pk=execution.pk)


def compensating() -> Execution:
    @step(attempts=1)
    def first() -> None:
        """Undone later than soon."""

    @first.compensate(attempts=2, backoff=Backoff(first=3600, max=3600, jitter=0))
    def undo(ctx: Context) -> None:
        raise OSError("not now")

    testing.clock.forward(0)
    return testing.run(Saga("undo", first, fail))


def stuck(*behind: Any) -> Execution:
    return testing.run(Saga("hold", take, fail, *behind, input=Purchase, on_failure="hold"), Purchase("A1", 2))


def stuck_past_pivot() -> Execution:
    return testing.run(Saga("late", take, Pivot(), fail, input=Purchase), Purchase("A1", 2))


def completed() -> Execution:
    return testing.run(buy(), Purchase("A1", 2))


def failed() -> Execution:
    return testing.run(Saga("broken", fail))


def cancelled() -> Execution:
    execution = pending()
    engine.cancel(execution)
    testing.drain()
    return Execution.objects.get(pk=execution.pk)


IN = {
    "pending": pending,
    "waiting": waiting,
    "suspended": suspended,
    "compensating": compensating,
    "stuck": stuck,
    "completed": completed,
    "failed": failed,
    "cancelled": cancelled,
}
