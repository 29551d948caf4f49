"""People's own data: how long it is kept, its export, and its erasure."""

from __future__ import annotations

from typing import Final

from risala.engine.model.audit import AuditImage
from risala.engine.model.features import Feature, later

FEATURE: Final = Feature(
    name="own_data",
    operations=(
        later("operations.account_data.retention:OPERATIONS"),
        later("operations.account_data.choices:OPERATIONS"),
        later("operations.account_data.erasing:OPERATIONS"),
        later("operations.account_data.deletion:OPERATIONS"),
        later("operations.account_data.exporting:OPERATIONS"),
    ),
    images={AuditImage.RETENTION_DAYS: later("journal.upkeep.retention_days:seen")},
    exported_settings={"keptDays": later("journal.upkeep.retention_days:of_organization")},
    deleted=("kept_days",),
    tasks=later("features.own_data.tasks:tasks"),
    tables=("kept_days", "erasures", "exports"),
)
