"""Alerts to operators."""

from __future__ import annotations

from typing import Final

from risala.engine.model.audit import AuditImage
from risala.engine.model.features import Feature, later

FEATURE: Final = Feature(
    name="alerts",
    operations=(later("operations.watch.alerts:OPERATIONS"),),
    images={
        AuditImage.ALERT: later("journal.alerts.alerts:seen"),
        AuditImage.ALERT_MUTE: later("journal.alerts.alerts:seen_mute"),
    },
    metrics=later("upkeep.house_metrics:of_alerts"),
    tables=("alerts", "alert_mutes", "alert_calls", "alert_hours", "alert_receipts"),
)
