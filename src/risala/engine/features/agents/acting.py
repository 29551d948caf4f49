"""The acts of agents in the audit trail: a line for each, before it is done."""

from __future__ import annotations

from typing import Final

from risala.engine.features.agents.records import AgentAct
from risala.engine.model.audit import AuditEntry
from risala.engine.model.callers import key_holder
from risala.engine.model.commands import Principal
from risala.engine.model.errors import RateLimited
from risala.engine.rules.windows import SlidingWindows, Window
from risala.engine.services import Services

A_MINUTE_MAX: Final = 60
"""Acts of one key in a minute: an agent thinks between two of them, and the trail is for people."""
KEYS_MAX: Final = 1000
"""Keys whose acts are counted; beyond that, the one that has acted least lately is forgotten."""
_MINUTE_MS: Final = 60_000


class AgentActs:
    """Writes lines of the audit trail for agents, by the keys that they act with."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._windows = SlidingWindows((Window(A_MINUTE_MAX, _MINUTE_MS),), KEYS_MAX)

    async def note(self, principal: Principal, act: AgentAct) -> int:
        """Write what an agent is about to do; the line's number in the trail.

        The line names the key, the tool, the run and the call's number in it. It has no phone
        number, text or code.

        Raises:
            RateLimited: the key's agents did too much in the last minute.
            Unavailable: the line could not be written: do not do it.
        """
        now_ms = self._services.recorder.clock.now_ms()
        wait_ms = self._windows.take(principal.key_id, now_ms)
        if wait_ms:
            seconds = -(-wait_ms // 1000)
            raise RateLimited(
                "agent",
                seconds,
                f"Agents of this key act more than {A_MINUTE_MAX} times a minute. Wait {seconds}"
                " seconds, then go on.",
            )
        entry = AuditEntry(
            caller=key_holder(principal.key_id, principal.organization_id),
            action=f"agent.{act.tool}",
            at=now_ms,
            subject=principal.key_id,
            organization_id=principal.organization_id,
            details={"run": act.run, "call": act.call, "mode": principal.mode.value},
            always=True,
        )
        return await self._services.repositories.audit.note(entry)
