"""Messages that come from another Risala: one that would return to its own service is refused."""

from __future__ import annotations

from typing import Final

from risala.engine.model.feature_work import Duty, WalkKind
from risala.engine.model.features import Feature, later

_STORED: Final = "features.hops.stored:"
FEATURE: Final = Feature(
    name="hops",
    access=later("features.hops.accepting:HopAccess"),
    duties={Duty.HOPS: later(_STORED + "through")},
    walks={WalkKind.HOPS: later(_STORED + "walk_over")},
    emptied=later(_STORED + "erase"),
    tables=("message_hops",),
)
