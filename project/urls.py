"""Where everything is: the shop at the root, the operators' admin, and the API when its extra is installed."""

from __future__ import annotations

from importlib.util import find_spec

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("admin/", admin.site.urls),
    path("", include("project.shop.urls")),
]
if find_spec("rest_framework") and find_spec("saga_app.api"):
    urlpatterns.insert(1, path("api/saga/", include("saga_app.api.urls")))
