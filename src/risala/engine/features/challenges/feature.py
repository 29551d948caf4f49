"""Challenges: work that a visitor's browser does before a code is sent to a number. It comes after
features that find requests suspicious."""

from __future__ import annotations

from typing import Final

from risala.engine.model.features import Feature, later

FEATURE: Final = Feature(
    name="challenges",
    in_sessions=later("features.challenges.challenges:ChallengeSessions"),
    session_members=frozenset(("challenge",)),
)
