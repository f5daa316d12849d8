"""Where each request of the API goes."""

from __future__ import annotations

from django.urls import path

from saga_app.api.executions import ExecutionViewSet
from saga_app.api.reads import ReadViewSet
from saga_app.api.sagas import SagaDefinitionViewSet
from saga_app.api.verbs import VerbViewSet
from saga_app.api.whole import WholeViewSet

app_name = "saga_api"

ONE = "v1/executions/<str:pk>/"  # any text: an id that is none is a 404 of our own, told as a problem
VERBS = (
    "resume", "abandon", "cancel", "suspend", "unwind", "skip", "resolve", "rerun", "fork", "move",
    "signal", "approve", "reject",
)  # fmt: skip
WHOLE = ("groups", "workers", "health")
PARTS = ("steps", "events", "signals", "plan", "timeline", "state")

urlpatterns = [
    path("v1/executions/", ExecutionViewSet.as_view({"get": "list", "post": "start"}), name="execution-list"),
    path(ONE, ExecutionViewSet.as_view({"get": "retrieve"}), name="execution-detail"),
    *(path(f"{ONE}{verb}/", VerbViewSet.as_view({"post": verb}), name=f"execution-{verb}") for verb in VERBS),
    *(path(f"{ONE}{part}/", ReadViewSet.as_view({"get": part}), name=f"execution-{part}") for part in PARTS),
    path("v1/sagas/", SagaDefinitionViewSet.as_view({"get": "list"}), name="saga-list"),
    path("v1/sagas/<str:name>/", SagaDefinitionViewSet.as_view({"get": "retrieve"}), name="saga-detail"),
    *(path(f"v1/{part}/", WholeViewSet.as_view({"get": part}), name=part) for part in WHOLE),
]
