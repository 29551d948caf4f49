"""Tells owners that an endpoint of theirs was disabled: a row says that they are owed a mail.

That row becomes mails in the queue, one for each owner and one for the address that the endpoint
names, in the transaction that settles it: none is lost, none is owed twice.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import partial
from typing import Final

import structlog

from risala.engine.actors.alarm import Alarm
from risala.engine.journal.people import mails, users
from risala.engine.journal.recorder import Recorder
from risala.engine.journal.store.patient import retry_until_committed
from risala.engine.journal.webhooks import endpoints as webhooks
from risala.engine.journal.webhooks.endpoints import DisabledNotice
from risala.engine.model.people import Language
from risala.engine.model.people_records.mails import MailKind, NewMail

log = structlog.get_logger(__name__)

LOOK_S: Final = 300.0
"""Looks for what is owed at least this often: mails are in no hurry."""


class Notices:
    def __init__(
        self,
        recorder: Recorder,
        reader: sqlite3.Connection,
        operator: str | None,
        owed: Callable[[], None],
    ) -> None:
        self._recorder = recorder
        self._reader = reader
        self._operator = operator
        self._owed = owed
        self._alarm = Alarm(recorder.clock, LOOK_S)

    def wake(self) -> None:
        """An owner is owed a word."""
        self._alarm.ring()

    async def run(self) -> None:
        """Tell for life."""
        while True:
            notice = webhooks.next_notice(self._reader)
            if notice is not None and notice.due_at <= self._recorder.clock.now_ms():
                await self._tell(notice)
            else:
                await self._alarm.wait(None if notice is None else notice.due_at)

    async def _tell(self, notice: DisabledNotice) -> None:
        now_ms = self._recorder.clock.now_ms()
        unit = partial(owe, notice=notice, operator=self._operator, now_ms=now_ms)
        told = await retry_until_committed(
            "webhooks.notice", partial(self._recorder.journal.commit, unit)
        )
        if not told:
            log.warning("webhooks.notice.unsent", endpoint=notice.endpoint.id, reason="no address")
        self._owed()


def owe(conn: sqlite3.Connection, notice: DisabledNotice, operator: str | None, now_ms: int) -> int:
    """Owe the mails of a notice, which is settled by that; how many they are."""
    endpoint = notice.endpoint
    details = {
        "endpoint": endpoint.id,
        "reason": endpoint.disabled_reason,
        "at": endpoint.updated_at,
    }
    kind, organization_id = MailKind.WEBHOOK_DISABLED, endpoint.organization_id
    told = mails.owe_owners(conn, organization_id, kind, details, now_ms)
    also = endpoint.notify or (None if told else operator)
    if also is not None and also.lower() not in told:
        known = users.by_email(conn, also.lower())
        language = Language.FRENCH if known is None else known.language
        mails.owe(conn, NewMail(kind, also, language, details), now_ms)
        told = [*told, also]
    webhooks.settle_notice(conn, endpoint.id, None)
    return len(told)
