"""Says which tables live where, as a site with several databases does."""

from __future__ import annotations


class Tables:
    """The saga tables are in "default" alone. "other" has the test site's own; "outside" has none."""

    def allow_migrate(self, db: str, app_label: str, **_hints: object) -> bool:
        return db == "default" or (db == "other" and app_label == "site")
