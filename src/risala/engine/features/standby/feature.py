"""A second machine that has a copy, and takes over."""

from __future__ import annotations

from typing import Final

from risala.engine.model.feature_work import Duty
from risala.engine.model.features import Feature, elsewhere, later

_REPORT: Final = "features.standby.report:"
FEATURE: Final = Feature(
    name="standby",
    needs=("backup", "alerts"),
    operations=(later("features.standby.operations:OPERATIONS"),),
    begins=later("features.standby.service:begin"),
    tasks=later("features.standby.service:tasks"),
    statistics=later(_REPORT + "statistics"),
    live_metrics=later(_REPORT + "of_copy"),
    system={"standby": later(_REPORT + "facts")},
    measured=later(_REPORT + "measured"),
    doctor=later("features.standby.doctor:examine"),
    duties={
        Duty.HEADS: later("features.standby.service:give_heads"),
        Duty.LEASE: elsewhere("app.fenced:hold_lease"),
    },
    commands={"standby": elsewhere("cli.commands.upkeep.standby.command:standby")},
)
