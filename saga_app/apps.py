"""Discovery, checks, and the binding of the verbs, when Django is ready."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from asgiref.sync import sync_to_async
from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules
from django.utils.translation import gettext_lazy as _

VERBS = (
    "resume",
    "abandon",
    "cancel",
    "suspend",
    "unwind",
    "skip",
    "resolve",
    "rerun",
    "fork",
    "move",
    "signal",
    "approve",
    "reject",
    "wait",
)
TWINS = {"wait": "await_end"}  # `await` is Python's own word


class SagaAppConfig(AppConfig):
    """The app `saga_app`, called "Sagas" by people."""

    name = "saga_app"
    label = "saga_app"
    verbose_name = _("Sagas")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Bind the verbs, register the checks, import every app's `sagas` module."""
        from saga_app import checks  # noqa: F401, PLC0415 - it registers them; all of these need the models

        bind_verbs()
        autodiscover_modules("sagas")


def bind_verbs() -> None:
    """Make the verbs methods of sagas and executions, each with its async twin."""
    from saga_app import engine  # noqa: PLC0415
    from saga_app.core.doors import bind_doors  # noqa: PLC0415
    from saga_app.models import Execution  # noqa: PLC0415
    from saga_app.queue import inline  # noqa: PLC0415

    bind_doors(start=engine.start, run=inline.run, awaited=sync_to_async)
    for verb in VERBS:
        function = getattr(engine, verb)
        setattr(Execution, verb, function)
        setattr(Execution, TWINS.get(verb, f"a{verb}"), _twin(function))


def _twin(function: Callable[..., Any]) -> Callable[..., Any]:
    async def twin(self: Any, *args: Any, **kwargs: Any) -> Any:
        return await sync_to_async(function)(self, *args, **kwargs)

    twin.__name__, twin.__doc__ = f"a{function.__name__}", function.__doc__
    return twin
