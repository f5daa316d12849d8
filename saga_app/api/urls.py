"""Where each request of the API goes."""

from __future__ import annotations

from django.urls import path

from saga_app.api.views import ExecutionViewSet

app_name = "saga_api"

ONE = "v1/executions/<str:pk>/"  # any text: an id that is none is a 404 of our own, told as a problem

urlpatterns = [
    path("v1/executions/", ExecutionViewSet.as_view({"get": "list", "post": "start"}), name="execution-list"),
    path(ONE, ExecutionViewSet.as_view({"get": "retrieve"}), name="execution-detail"),
    path(f"{ONE}resume/", ExecutionViewSet.as_view({"post": "resume"}), name="execution-resume"),
    path(f"{ONE}abandon/", ExecutionViewSet.as_view({"post": "abandon"}), name="execution-abandon"),
    path(f"{ONE}cancel/", ExecutionViewSet.as_view({"post": "cancel"}), name="execution-cancel"),
    path(f"{ONE}signal/", ExecutionViewSet.as_view({"post": "signal"}), name="execution-signal"),
]
