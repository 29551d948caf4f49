"""Notifies owners that their endpoint was disabled: a row records that a mail is owed.

That row becomes mails in the queue, one for each owner and one for the address in the endpoint, in
the transaction that settles it: none is lost, none is owed twice.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

import structlog

from risala.engine.actors.alarm import Alarm
from risala.engine.actors.retrying import retry_until_committed
from risala.engine.actors.set_aside import ItemLoop
from risala.engine.journal.webhooks.endpoints import EndpointRepository
from risala.engine.model.clock import Clock
from risala.engine.model.records.webhooks import DisabledNotice

log = structlog.get_logger(__name__)

LOOK_S: Final = 300.0
"""Looks for owed mails at least this often: they are not urgent."""


class Notices:
    def __init__(
        self,
        endpoints: EndpointRepository,
        clock: Clock,
        operator: str | None,
        owed: Callable[[], None],
        items: ItemLoop,
    ) -> None:
        """
        Args:
            operator: the address to notify if there is no other.
            owed: called when mails are owed.
            items: where a notice that breaks is set aside.
        """
        self._items = items
        self._endpoints = endpoints
        self._clock = clock
        self._operator = operator
        self._owed = owed
        self._alarm = Alarm(clock, LOOK_S)
        self.wake = self._alarm.ring
        """An owner is owed a mail."""

    async def run(self) -> None:
        """Queue owed mails, until cancelled."""
        while True:
            notice = self._endpoints.next_notice(self._items.held(), self._items.broken_row)
            if notice is not None and notice.due_at <= self._clock.now_ms():
                with self._items.item(notice.endpoint.id):
                    await self._tell(notice)
            else:
                await self._alarm.wait(None if notice is None else notice.due_at)

    async def _tell(self, notice: DisabledNotice) -> None:
        owe = partial(self._endpoints.owe_notice, notice, self._operator, self._clock.now_ms())
        has_recipient = await retry_until_committed("webhooks.notice", owe)
        if not has_recipient:
            log.warning("webhooks.notice.unsent", endpoint=notice.endpoint.id, reason="no address")
        self._owed()
