"""Who may do what: nobody anything, unless a permission says so."""

from __future__ import annotations

from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

OF_ITS_OWN = {
    "start", "resume", "abandon", "cancel", "suspend", "unwind", "skip", "resolve", "rerun", "fork", "move", "signal",
}  # fmt: skip


class MayDo(BasePermission):
    """`view_execution` to read, and a permission of its own for each verb: holding one says nothing of the others.

    Approving and rejecting ask for `view_execution` here; then the approval itself says who may decide.
    A method that the address does not know asks for `view_execution` too, so that a stranger learns nothing from a 405.
    """

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Refuse anonymous requests, reads included, and users without the permission."""
        action = getattr(view, "action", None)
        word = action if action in OF_ITS_OWN else "view"
        user: Any = request.user  # None where the host turned anonymous users off
        return bool(user and user.is_authenticated and user.has_perm(f"saga_app.{word}_execution"))
