"""Conversations: the texts of a number and the answers to it, and who answers."""

from __future__ import annotations

from typing import Final

from risala.engine.model.audit import AuditImage
from risala.engine.model.feature_work import Duty, WalkKind
from risala.engine.model.features import Feature, elsewhere, later

_HERE: Final = "features.conversations."
_STORED: Final = _HERE + "stored.conversations:"
_COMMANDS: Final = "cli.commands.messaging.conversations:"
FEATURE: Final = Feature(
    name="conversations",
    needs=("lists", "tables"),
    findable=later("features.conversations.operations:FOUND"),
    operations=(later(_HERE + "operations:OPERATIONS"),),
    views=("conversation.get", "conversation.list"),
    images={AuditImage.CONVERSATION: later(_STORED + "find")},
    duties={
        Duty.USUAL_CARRIER: later(_HERE + "stored.usual_carriers:usual_carrier"),
        Duty.CONVERSATION_EVENT: later(_STORED + "tell"),
    },
    received=later(_STORED + "note_text"),
    exported={"conversations": later(_STORED + "export")},
    walks={WalkKind.CONVERSATIONS: later(_STORED + "walk_old")},
    erased=later(_STORED + "erase"),
    cleared=later(_STORED + "clear"),
    tables=("conversations",),
    dashboard=(elsewhere("http.dashboard.conversations.page:ROUTES"),),
    commands={"conversation": elsewhere(_COMMANDS + "conversation")},
)
