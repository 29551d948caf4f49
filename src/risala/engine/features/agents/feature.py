"""A sandbox for agents: what they read of the service, ``risala mcp``, and their acts' trail."""

from __future__ import annotations

from typing import Final

from risala.engine.model.features import Feature, elsewhere, later

FEATURE: Final = Feature(
    name="agents",
    access=later("features.agents.acting:AgentActs"),
    mounts=elsewhere("http.api.agents:mount"),
    commands={"mcp": elsewhere("cli.commands.agents.mcp:mcp")},
)
