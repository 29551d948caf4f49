"""A second machine that has a copy, and takes over."""

from __future__ import annotations

from typing import Final

from risala.engine.model.features import Feature, later

FEATURE: Final = Feature(
    name="standby",
    operations=(later("operations.watch.standby:OPERATIONS"),),
)
