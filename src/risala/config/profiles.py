"""Profiles: defaults for machines of a kind, below everything that the operator sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

USUAL: Final = "usual"
SMALL: Final = "small"

DEFAULTS: Final[Mapping[str, Mapping[str, Any]]] = {
    USUAL: {},
    SMALL: {
        "storage.page_cache_mb": 2,
        "storage.queue_units_max": 1024,
        "http.connections_max": 500,
        "http.batches_read_max": 2,
        "request_log.keep_days": 7,
        "request_log.size_max_mb": 32,
        "request_log.a_second_max": 20,
        "engine.intake_max": 2000,
        "engine.buffer_rows_max": 128,
        "webhooks.attempts_max": 24,
        "webhooks.attempts_per_endpoint_max": 4,
        "smpp_server.sessions_max": 50,
    },
}
"""By profile the settings that have another default. Small: less memory where many come at once,
and less for a slow card to write. No setting here makes a promise weaker: what is accepted is
synced to disk all the same."""


def defaults_of(profile: object) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The paths and values of a profile; none for one that does not exist, which the settings'
    model refuses."""
    found = DEFAULTS.get(profile, {}) if isinstance(profile, str) else {}
    for key, value in found.items():
        yield tuple(key.split(".")), value
