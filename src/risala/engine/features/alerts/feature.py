"""Alerts to operators."""

from __future__ import annotations

from typing import Final

from risala.engine.model.audit import AuditImage
from risala.engine.model.features import Feature, elsewhere, later
from risala.engine.model.people_records import MailKind

_HERE: Final = "features.alerts."
_LETTERS: Final = (MailKind.ALERT_RAISED, MailKind.ALERT_OVER)
FEATURE: Final = Feature(
    name="alerts",
    operations=(later(_HERE + "operations:OPERATIONS"),),
    images={
        AuditImage.ALERT: later(_HERE + "stored.alerts:seen"),
        AuditImage.ALERT_MUTE: later(_HERE + "stored.alerts:seen_mute"),
    },
    shifts=later(_HERE + "stored.alerts:SHIFTS"),
    metrics=later(_HERE + "service:of_alerts"),
    examined=later(_HERE + "stored.alerts:examine"),
    letters=dict.fromkeys(_LETTERS, later(_HERE + "words:letter")),
    quoting=_LETTERS,
    tasks=later(_HERE + "service:tasks"),
    retuned=later(_HERE + "service:retune"),
    tables=("alerts", "alert_mutes", "alert_calls", "alert_hours", "alert_receipts"),
    console=(elsewhere("http.operator.system.alerts:ROUTES"),),
    commands={"alerts": elsewhere("cli.commands.upkeep.alerts:alerts")},
)
