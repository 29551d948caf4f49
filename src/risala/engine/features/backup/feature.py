"""Backups, and what is asked after a restore."""

from __future__ import annotations

from typing import Final

from risala.engine.model.features import Feature, elsewhere, later

_HERE: Final = "features.backup."
FEATURE: Final = Feature(
    name="backup",
    examined=later(_HERE + "stored.backup:examine"),
    operations=(later(_HERE + "operations:OPERATIONS"),),
    commands={
        "backup": elsewhere("cli.commands.upkeep.backup:backup"),
        "restore": elsewhere("cli.commands.upkeep.backup:restore"),
    },
)
