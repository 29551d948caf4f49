"""Event sinks: plugins that get every event, and the heads of the audit trail."""

from __future__ import annotations

from typing import Final

from risala.engine.model.features import Feature, later

_SERVICE: Final = "features.sinks.service:"
FEATURE: Final = Feature(
    name="sinks",
    needs=("trail_heads",),
    tasks=later(_SERVICE + "tasks"),
    statistics=later(_SERVICE + "statistics"),
    live_metrics=later(_SERVICE + "metrics"),
)
