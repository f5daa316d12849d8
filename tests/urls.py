"""The test site's addresses: the admin and the API."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/saga/", include("saga_app.api.urls")),
]
