"""Alarms until somebody answers: people in order, by shifts, until one of them writes a word."""

from __future__ import annotations

from typing import Final

from risala.engine.model.audit import AuditImage
from risala.engine.model.feature_work import Duty, WalkKind
from risala.engine.model.features import Feature, elsewhere, later

_HERE: Final = "features.alarms."
_STORED: Final = _HERE + "stored.alarms:"
_PAGES: Final = "http.dashboard.alarms."
FEATURE: Final = Feature(
    name="alarms",
    operations=(later(_HERE + "operations:OPERATIONS"),),
    images={
        AuditImage.ALARM: later(_STORED + "alarm"),
        AuditImage.ALARM_CHAIN: later(_STORED + "chain"),
    },
    exported_settings={"alarm-chains": later(_STORED + "of_organization")},
    exported={"alarms": later(_STORED + "export")},
    duties={Duty.ALARMS: later(_HERE + "duties:WORK")},
    arrived=later(_HERE + "stored.arriving:arrived"),
    walks={WalkKind.ALARMS: later(_STORED + "walk_old")},
    withdrawn=later(_STORED + "withdraw"),
    erased=later(_STORED + "erase"),
    restored=later(_STORED + "restored"),
    shifts=later(_STORED + "SHIFTS"),
    tasks=later(_HERE + "service:tasks"),
    rests_without=(),
    deleted=("alarm_steps", "alarms", "alarm_chains"),
    tables=("alarm_chains", "alarms", "alarm_steps"),
    dashboard=(
        elsewhere(_PAGES + "chains:ROUTES"),
        elsewhere(_PAGES + "raised:ROUTES"),
    ),
    shown={
        "hook": elsewhere(_PAGES + "chains:of_hook"),
        "story": elsewhere(_PAGES + "raised:of_story"),
    },
    api_paths=(
        *("/api/alarms/chains/list", "/api/alarms/chains/get", "/api/alarms/chains/create"),
        *("/api/alarms/chains/update", "/api/alarms/chains/delete"),
        *("/api/alarms/raise", "/api/alarms/get", "/api/alarms/end"),
    ),
    api_handlers=elsewhere("http.api.management.alarms:handlers"),
    api_reference=elsewhere("http.api.openapi.alarms:REFERENCE"),
    commands={"alarm": elsewhere("cli.commands.messaging.alarms:alarm")},
)
