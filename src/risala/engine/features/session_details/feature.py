"""What callers with a secret key say of a code that they ask for: for whom, from where, tags."""

from __future__ import annotations

from typing import Final

from risala.engine.model.feature_work import WalkKind
from risala.engine.model.features import Feature, later

_STORED: Final = "features.session_details.stored:"
FEATURE: Final = Feature(
    name="session_details",
    in_sessions=later("features.session_details.sessions:SessionDetails"),
    session_members=frozenset(
        (
            *("clientIp", "userAgent", "tags", "code"),
            *("amount", "currency", "payee", "reported"),
        )
    ),
    session_ended=later(_STORED + "forget_sealed"),
    exported={"verification-details": later(_STORED + "export")},
    walks={WalkKind.SESSION_DETAILS: later(_STORED + "forget_old")},
    cleared=later(_STORED + "clear"),
    erased=later(_STORED + "erase"),
    tables=("session_details",),
)
