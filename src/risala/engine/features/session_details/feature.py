"""What callers with a secret key say of a code that they ask for: for whom, from where, tags."""

from __future__ import annotations

from typing import Final

from risala.engine.model.feature_work import WalkKind
from risala.engine.model.features import Feature, elsewhere, later

_STORED: Final = "features.session_details.stored:"
_TEMPLATES: Final = "features.session_details.stored_texts:"
FEATURE: Final = Feature(
    name="session_details",
    in_sessions=later("features.session_details.sessions:SessionDetails"),
    session_members=frozenset(
        (
            *("clientIp", "userAgent", "tags", "code"),
            *("amount", "currency", "payee", "reported", "template", "variables"),
        )
    ),
    session_ended=later(_STORED + "forget_sealed"),
    exported={"verification-details": later(_STORED + "export")},
    walks={WalkKind.SESSION_DETAILS: later(_STORED + "forget_old")},
    cleared=later(_STORED + "clear"),
    erased=later(_STORED + "erase"),
    examined=later(_TEMPLATES + "examined"),
    operations=(later("features.session_details.operations:OPERATIONS"),),
    exported_settings={"codeTemplates": later(_TEMPLATES + "exported")},
    tables=("session_details", "code_templates"),
    deleted=("code_templates",),
    dashboard=(elsewhere("http.dashboard.verify.templates:ROUTES"),),
    commands={"verify templates": elsewhere("cli.commands.messaging.code_templates:templates")},
)
