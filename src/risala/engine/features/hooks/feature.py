"""Messages by what other software tells of itself, each by an address of its own."""

from __future__ import annotations

from typing import Final

from risala.engine.model.audit import AuditImage
from risala.engine.model.features import Feature, later

FEATURE: Final = Feature(
    name="hooks",
    operations=(later("operations.faces.hooks:OPERATIONS"),),
    images={AuditImage.HOOK: later("journal.accounts.hooks:hook")},
    exported_settings={"hooks": later("journal.accounts.hooks:of_organization")},
    ends=later("journal.accounts.hooks:end_storms"),
    deleted=("hooks",),
    tasks=later("features.hooks.tasks:tasks"),
    tables=("hooks", "hook_storms", "hook_codes"),
)
