"""A command's view of the engine, wherever it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

from risala.cli.reach.refused import CommandRefused
from risala.engine.model.records.asks import Ask, Reply
from risala.engine.model.records.record import NotAsExpected, from_json

R = TypeVar("R")
OTHER_VERSION: Final = (
    "The service has another version than this command. Use the command that came with the service."
)


class Performer(Protocol):
    async def perform(self, name: str, arguments: dict[str, Any], /) -> dict[str, Any]: ...

    async def upload(self, organization_id: str, name: str, content: bytes, /) -> str: ...


@dataclass(frozen=True, slots=True)
class GatewaySession:
    """A gateway, ours or a running service's."""

    performer: Performer
    running: bool
    """Whether a service runs, so that accepted messages are sent now."""

    async def perform(self, name: str, /, **arguments: object) -> dict[str, Any]:
        """Do one operation; arguments that are None count as missing."""
        present = {key: value for key, value in arguments.items() if value is not None}
        return await self.performer.perform(name, present)

    async def ask(self, ask: Ask[R], /, **arguments: object) -> Reply[R]:
        """Do one operation; arguments that are None count as missing."""
        present = {key: value for key, value in arguments.items() if value is not None}
        return await self.ask_exactly(ask, present)

    async def ask_exactly(self, ask: Ask[R], arguments: dict[str, Any]) -> Reply[R]:
        """Do one operation whose arguments may be null, which means: back to the default.

        Raises:
            CommandRefused: it was refused, or the service answers in another shape than this
                version of the command knows.
        """
        answer = await self.performer.perform(ask.name, arguments)
        try:
            return Reply(from_json(ask.result, answer), answer)
        except NotAsExpected as error:
            raise CommandRefused(f"{error} {OTHER_VERSION}") from error

    async def upload(self, organization_id: str, name: str, content: bytes) -> str:
        """Give a file to the service; the upload's id, for the operations that take one.

        Raises:
            CommandRefused: it was refused, or no service runs.
        """
        return await self.performer.upload(organization_id, name, content)
