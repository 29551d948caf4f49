"""What a command talks to, wherever the engine is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol


class Performer(Protocol):
    async def perform(self, name: str, arguments: dict[str, Any], /) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class GatewaySession:
    """A gateway, ours or a running service's."""

    performer: Performer
    running: bool
    """Whether a service runs, that is: whether what was accepted goes out now."""

    async def perform(self, name: str, /, **arguments: object) -> dict[str, Any]:
        """Do one operation; arguments that are None count as not given."""
        given = {key: value for key, value in arguments.items() if value is not None}
        return await self.perform_exactly(name, given)

    async def perform_exactly(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Do one operation whose arguments may be null, which means: back to the default."""
        return await self.performer.perform(name, arguments)
