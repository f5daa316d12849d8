"""What every page of the console shares: who may look, that nobody edits, and the way from the front page to here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import URLPattern, reverse
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from saga_app.admin.live import polled

Crumb = tuple[str, object]

ONLY_READ = ("change", "history")  # of Django's own addresses: what stands there in our admin has no form


class ViewOnly(admin.ModelAdmin):  # type: ignore[type-arg]
    """Rows for those who may view executions. Nobody adds, changes or deletes them here: executions have verbs."""

    actions: Sequence[str] | None = None

    @property
    def urls(self) -> list[URLPattern]:
        """The addresses of the list and its pages. Each keeps itself up to date, and refuses what no browser sends.

        So a view of ours asks for the method only where it takes less than this leaves.
        """
        return [self._page_at(pattern) for pattern in self.get_urls()]

    def _page_at(self, pattern: URLPattern) -> URLPattern:
        kind = (pattern.name or "change").rpartition("_")[2]
        methods = ["GET", "HEAD"] if kind in ONLY_READ else ["GET", "HEAD", "POST"]
        view = polled(self.admin_site, require_http_methods(methods)(pattern.callback))
        return URLPattern(pattern.pattern, view, pattern.default_args, pattern.name)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """One permission for the whole console."""
        return request.user.has_perm("saga_app.view_execution")

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Whoever may view executions has the console in the sidebar."""
        return self.has_view_permission(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Nobody."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody: the record of what was done is kept."""
        return False

    def page_context(self, request: HttpRequest, title: object, crumbs: Sequence[Crumb] = ()) -> dict[str, Any]:
        """What a page of ours needs, whatever it shows.

        Args:
            request: whose page it is.
            title: of the page.
            crumbs: address and text of each step of the way after this list; an empty address is the page itself.
        """
        name = self.admin_site.name
        request.current_app = name
        opts, last = self.opts, not crumbs
        here = reverse(f"admin:{opts.app_label}_{opts.model_name}_changelist", current_app=name)
        way: list[Crumb] = [
            (reverse("admin:index", current_app=name), _("Home")),
            (reverse("admin:app_list", args=[opts.app_label], current_app=name), opts.app_config.verbose_name),
            ("" if last else here, capfirst(opts.verbose_name_plural)),
            *crumbs,
        ]
        return {**self.admin_site.each_context(request), "opts": opts, "title": title, "crumbs": way}
