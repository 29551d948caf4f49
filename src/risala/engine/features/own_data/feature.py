"""People's own data: how long it is kept, its export, and its erasure."""

from __future__ import annotations

from typing import Final

from risala.engine.model.audit import AuditImage
from risala.engine.model.features import Feature, elsewhere, later

_HERE: Final = "features.own_data."
FEATURE: Final = Feature(
    name="own_data",
    needs=("request_log",),
    operations=(later(_HERE + "operations:OPERATIONS"),),
    images={AuditImage.RETENTION_DAYS: later(_HERE + "stored.retention:days_seen")},
    exported_settings={"keptDays": later(_HERE + "stored.retention:days_of")},
    deleted=("kept_days",),
    stores={"exports": later(_HERE + "stored.exports:STORED")},
    tasks=later(_HERE + "erasing:tasks"),
    tables=("kept_days", "erasures", "exports"),
    dashboard=(
        elsewhere("http.dashboard.account_data:ROUTES"),
        elsewhere("http.dashboard.exports:ROUTES"),
        elsewhere("http.dashboard.organization_ending:ROUTES"),
    ),
    commands={
        "retention": elsewhere("cli.commands.upkeep.retention:retention"),
        "kept": elsewhere("cli.commands.upkeep.account_data:account_data"),
        "org delete": elsewhere("cli.commands.upkeep.erasing:org_delete"),
    },
    shown={
        "system": elsewhere("http.operator.system.own_data:retention"),
        "organization": elsewhere("http.operator.system.own_data:deletion"),
    },
)
