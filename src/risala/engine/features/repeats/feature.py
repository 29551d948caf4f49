"""Mailings that repeat: every Monday at ten, on days of the month, until a date or a count."""

from __future__ import annotations

from typing import Final

from risala.engine.model.audit import AuditImage
from risala.engine.model.features import Feature, elsewhere, later

_HERE: Final = "features.repeats."
_STORED: Final = _HERE + "stored:"
FEATURE: Final = Feature(
    name="repeats",
    needs=("tables", "lists", "mailings"),
    operations=(later(_HERE + "operations:OPERATIONS"),),
    images={AuditImage.REPEAT: later(_STORED + "find")},
    exported_settings={"mailing-repeats": later(_STORED + "of_organization")},
    exported={"mailing-repeat-runs": later(_STORED + "export")},
    restored=later(_STORED + "restored"),
    shifts=later(_STORED + "SHIFTS"),
    tasks=later(_HERE + "service:tasks"),
    rests_without=(),
    deleted=("repeat_runs", "mailing_repeats"),
    tables=("mailing_repeats", "repeat_runs"),
    dashboard=(elsewhere("http.dashboard.repeats:ROUTES"),),
    api_paths=(
        *("/api/repeats/list", "/api/repeats/get", "/api/repeats/create", "/api/repeats/update"),
        *("/api/repeats/pause", "/api/repeats/resume", "/api/repeats/end", "/api/repeats/delete"),
    ),
    api_handlers=elsewhere("http.api.management.repeats:handlers"),
    api_reference=elsewhere("http.api.openapi.repeats:REFERENCE"),
    commands={"repeat": elsewhere("cli.commands.messaging.repeats:repeat")},
)
