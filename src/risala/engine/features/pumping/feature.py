"""The guard against pumping: codes asked for by the thousand, and never entered, for the fee of the
called network."""

from __future__ import annotations

from typing import Final

from risala.engine.model.feature_work import Duty
from risala.engine.model.features import Feature, elsewhere, later

_HERE: Final = "features.pumping."
_STORED: Final = _HERE + "stored:"
FEATURE: Final = Feature(
    name="pumping",
    needs=("alerts",),
    operations=(later(_HERE + "operations:OPERATIONS"),),
    exported_settings={"guard": later(_STORED + "exported")},
    in_sessions=later(_HERE + "guarding:Guarding"),
    session_joined=later(_HERE + "joining:is_joined"),
    duties={Duty.CODE_AGAIN: later(_HERE + "guarding:again")},
    cleared=later(_STORED + "clear"),
    deleted=("pumping_settings", "pumping_keys", "pumping_suspicions"),
    forgets=later(_HERE + "settling:forget"),
    shifts=later(_STORED + "SHIFTS"),
    live_metrics=later(_HERE + "joining:metrics"),
    measured=later(_HERE + "alerting:measured"),
    tasks=later(_HERE + "joining:tasks"),
    stopping=later(_HERE + "joining:stopping"),
    tables=("pumping_settings", "pumping_keys", "pumping_groups", "pumping_suspicions"),
    dashboard=(elsewhere("http.dashboard.verify.guard:ROUTES"),),
    commands={"verify guard": elsewhere("cli.commands.messaging.verify_guard:guard")},
)
