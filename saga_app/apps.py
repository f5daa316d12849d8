"""Discovery, checks, and the binding of the verbs, when Django is ready."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules
from django.utils.translation import gettext_lazy as _


class SagaAppConfig(AppConfig):
    """The app `saga_app`, called "Sagas" by people."""

    name = "saga_app"
    label = "saga_app"
    verbose_name = _("Sagas")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Bind the verbs, register the checks, import every app's `sagas` module."""
        from saga_app import checks, engine  # noqa: F401, PLC0415 - needs the models

        engine.bind()
        autodiscover_modules("sagas")
