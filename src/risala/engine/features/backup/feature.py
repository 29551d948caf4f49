"""Backups, and what is asked after a restore."""

from __future__ import annotations

from typing import Final

from risala.engine.model.features import Feature, later

FEATURE: Final = Feature(
    name="backup",
    examined=later("features.backup.stored:examine"),
    operations=(later("operations.account_data.restored:OPERATIONS"),),
)
