"""The SAGA setting: every key with its default, read live."""

from __future__ import annotations

from typing import Any

from django.conf import settings as django_settings

DEFAULTS: dict[str, Any] = {
    "LEASE": 30.0,  # seconds a worker may go unheard before another takes its execution over
    "BUDGET": 30.0,  # seconds one drive works before it lets others have a turn
    "HARD_STOP_GRACE": 5.0,  # seconds past a timeout (or a lease) after which a body cannot be running any more
    "DEFINITION_GRACE": 600.0,  # seconds an execution waits for a worker that knows its saga
    "MAX_VALUE_BYTES": 1024 * 1024,  # the largest stored value, in bytes of its JSON text
    "ENCRYPTION": None,  # dotted path of an object with encrypt(text) and decrypt(text)
    "REDACT": (  # no page and no download shows what stands under a name that contains one of these
        "password",
        "passwd",
        "secret",
        "token",
        "authorization",
        "api_key",
        "card_number",
        "cvv",
        "cvc",
        "iban",
    ),
    "WEDGED_AFTER": 60.0,  # seconds with tickets out, rows due and no claim, after which a cluster is called wedged
    "EXIT_WHEN_WEDGED": False,  # whether a wedged cluster ends its own processes, for its supervisor to restart
}


class Settings:
    """Attribute access to `settings.SAGA`, with defaults; read at each use, so that override_settings works."""

    def __getattr__(self, name: str) -> Any:
        if name not in DEFAULTS:
            msg = f"SAGA has no key {name!r}; it has {', '.join(DEFAULTS)}"
            raise AttributeError(msg)
        return written().get(name, DEFAULTS[name])


settings = Settings()


def written() -> Any:
    """`settings.SAGA` as it is written."""
    return getattr(django_settings, "SAGA", {})


def unknown_keys() -> list[str]:
    """The keys of `settings.SAGA` that mean nothing."""
    return sorted(set(written()) - set(DEFAULTS))


def q_cluster() -> dict[str, Any]:
    """django-q2's setting as it is written, read live: its own reader reads it once, when it is imported."""
    return dict(getattr(django_settings, "Q_CLUSTER", None) or {})


def own_names() -> list[str]:
    """How the default cluster may be called, the name it goes by first. Every other cluster is one of ALT_CLUSTERS."""
    written = q_cluster()
    name = str(written.get("name", "default"))
    return [str(written.get("cluster_name", name)), name]


def queue_of(cluster: str) -> str:
    """The queue that a cluster serves: that of its name; the default cluster serves what names no queue."""
    return "" if cluster in own_names() else cluster
