"""Channels: one-time codes by other ways than SMS, one after the other."""

from __future__ import annotations

from typing import Final

from risala.engine.model.features import Feature, elsewhere, later

_STORED: Final = "features.channels.stored:"
_SESSIONS: Final = "features.channels.sessions:"
FEATURE: Final = Feature(
    name="channels",
    operations=(later("features.channels.operations:OPERATIONS"),),
    exported_settings={"channels": later(_STORED + "use_of")},
    in_sessions=later(_SESSIONS + "ChannelSessions"),
    session_members=frozenset(("channels", "address")),
    session_joined=later("features.channels.joining:is_joined"),
    retuned=later("features.channels.joining:retune"),
    session_messages=later(_STORED + "messages_of"),
    session_goes_on=later(_STORED + "goes_on"),
    session_ended=later(_STORED + "end"),
    access=later("features.channels.service:ChannelSending"),
    tasks=later("features.channels.service:tasks"),
    rests_without=(),
    emptied=later(_STORED + "erase"),
    shifts=later(_STORED + "SHIFTS"),
    deleted=("channel_uses",),
    dashboard=(elsewhere("http.dashboard.verify.channels:ROUTES"),),
    commands={"verify channels": elsewhere("cli.commands.messaging.verify_channels:channels")},
    tables=("channel_uses", "channel_sessions", "channel_deliveries"),
)
