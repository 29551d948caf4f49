"""What others ask of alarms: hooks raise them, and texts that come in end them.

It is looked up with each text, so that it imports what it needs only where there are alarms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from risala.engine.features.alarms.stored.answering import ended_by
from risala.engine.model.errors import NotFound

if TYPE_CHECKING:
    from risala.engine.model.commands import Principal
    from risala.engine.services import Services


class AlarmWork:
    """See :attr:`~risala.engine.model.feature_work.Duty.ALARMS`."""

    def is_meant(self, conn: Any, number: str, text: str) -> bool:  # noqa: ANN401 -- a connection
        """Whether a text ends an alarm, wherever its own number leads."""
        return bool(ended_by(conn, number, text))

    def want_chain(self, services: Services, organization_id: str, chain_id: str) -> None:
        """Raise ``NotFound`` if an organization has no such chain."""
        from risala.engine.features.alarms.stored.alarms import AlarmRepository

        chain = services.repositories.part(AlarmRepository).chain(chain_id)
        if chain.organization_id != organization_id:
            raise NotFound(f"There is no alarm chain {chain_id}.")

    def was_raised(self, services: Services, organization_id: str, once: str) -> bool:
        """Whether an alarm was raised by a key."""
        from risala.engine.features.alarms.stored.alarms import AlarmRepository

        stored = services.repositories.part(AlarmRepository)
        return stored.raised_once(organization_id, once) is not None

    async def raise_for(
        self, services: Services, principal: Principal, chain_id: str, text: str, once: str | None
    ) -> None:
        """Raise an alarm for a hook.

        Args:
            principal: the hook's; messages are of its mode.
            once: a key, by which the same alarm is raised once.

        Raises:
            NotFound: the chain is gone.
            Conflict: too many alarms go on.
            Unavailable: the disk did not take it.
        """
        from risala.engine.features.alarms.records import TEXT_MAX
        from risala.engine.features.alarms.service import AlarmCalling

        calling = services.part(AlarmCalling)
        await calling.raise_alarm(None, principal, chain_id, text[:TEXT_MAX], once)


WORK: Final = AlarmWork()
