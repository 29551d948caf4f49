"""Reverse verification: the user sends us a text, or calls, and so proves the number."""

from __future__ import annotations

from typing import Final

from risala.engine.model.features import Feature, elsewhere, later

_STORED: Final = "features.reverse.stored:"
FEATURE: Final = Feature(
    name="reverse",
    operations=(later("features.reverse.operations:OPERATIONS"),),
    commands={"verify start": elsewhere("cli.commands.messaging.verify_start:start")},
    in_sessions=later("features.reverse.sessions:ReverseSessions"),
    session_members=frozenset(("reverse",)),
    session_way="reverse",
    session_ended=later(_STORED + "end"),
    arrived=later("features.reverse.arriving:arrived"),
    access=later("features.reverse.service:ReverseStarting"),
    exported={"reverse-verifications": later(_STORED + "export")},
    cleared=later(_STORED + "clear"),
    erased=later(_STORED + "erase"),
    tables=("reverse_sessions",),
    doctor=later("features.reverse.doctor:examine"),
    dashboard=(elsewhere("http.dashboard.verify.hosted:ROUTES"),),
    shown={"carrier": elsewhere("http.operator.carriers.origin:of_carrier")},
)
