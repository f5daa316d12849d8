"""The definitions: which sagas there are, and what one of them consists of, takes, and looks like."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from rest_framework.request import Request
from rest_framework.response import Response

from saga_app.api import outlines, parts, serializers
from saga_app.api.base import SagaViewSet
from saga_app.api.slices import whole
from saga_app.core import registry
from saga_app.core.saga import Saga
from saga_app.store import shapes

MOST_REVISION = 2**31 - 1


class SagaDefinitionViewSet(SagaViewSet):
    """List, retrieve."""

    serializer_class = serializers.Summary

    def list(self, request: Request) -> Response:
        """Every saga that is in the code of this process, ran once, or is still open; by name."""
        counts = shapes.revisions()
        names = sorted({name for name, _ in counts})
        return Response({"results": [_listed(name, counts) for name in names]})

    def retrieve(self, request: Request, name: str) -> Response:
        """One saga: its revisions; and of the highest, or of `revision`, its nodes, its input and its graph.

        What is not in the code of this process has no nodes and no input (null), and the graph that was kept of it.
        404 where nobody knows it, or that revision of it.
        """
        wanted = whole(request.query_params.get("revision"), "revision", 0, MOST_REVISION, otherwise=-1)
        known = [] if "\x00" in name else shapes.shapes(name)  # PostgreSQL cannot be asked for that
        latest = shapes.latest(name)
        highest = latest.revision if latest else max((one.revision for one in known), default=None)
        revision = highest if wanted < 0 else wanted
        if revision is None or revision not in {one.revision for one in known}:
            raise Http404
        saga = registry.get(name, revision)
        about = {"name": name, "revision": revision, "latest": highest, "revisions": [_shape(one) for one in known]}
        return Response({**about, **_definition(saga), "graph": shapes.graph(name, revision, saga)})


def _listed(name: str, counts: dict[tuple[str, int], int]) -> dict[str, Any]:
    saga = shapes.latest(name)
    numbers = sorted((number for each, number in counts if each == name), reverse=True)
    return {
        "name": name,
        "title": saga.title if saga else "",
        "latest": saga.revision if saga else None,
        "revisions": [
            {"revision": one, "in_code": registry.get(name, one) is not None, "open": counts[name, one]}
            for one in numbers
        ],
    }


def _shape(one: shapes.Shape) -> dict[str, Any]:
    shown = parts.columns(one, ("revision", "fingerprint", "seen_at", "open"))
    return {**shown, "in_code": one.is_code}


def _definition(saga: Saga[Any] | None) -> dict[str, Any]:
    if saga is None:
        return {"title": "", "fault": "", "timeout": None, "on_failure": None, "nodes": None, "input": None}
    fault = shapes.fault(saga)
    lines = [] if fault else shapes.input_lines(saga)
    return {
        "title": saga.title,
        "fault": fault,
        "timeout": saga.timeout,
        "on_failure": saga.on_failure,
        "nodes": outlines.outline(saga.nodes),
        "input": None if fault else [{"name": one.name, "type": one.type, "required": one.required} for one in lines],
    }
