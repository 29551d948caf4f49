"""Tells owners that an endpoint of theirs was disabled: a row says that they are owed a mail."""

from __future__ import annotations

import sqlite3
from functools import partial
from typing import Final

import structlog

from risala.engine.actors.alarm import Alarm
from risala.engine.journal.recorder import Recorder
from risala.engine.journal.store.patient import patiently
from risala.engine.journal.webhooks import endpoints as webhooks
from risala.engine.journal.webhooks.endpoints import DisabledNotice
from risala.engine.model.clock import iso
from risala.plugins.mail import Mail, Mailer, MailNotSentError

log = structlog.get_logger(__name__)

LOOK_S: Final = 300.0
"""Seconds between two looks for mails that are owed: they are in no hurry."""
WAIT_S: Final = 300
"""Seconds before the second try; each wait is twice the one before."""
TRIES_MAX: Final = 8
"""Tries of one mail, which take half a day; the endpoint itself shows that it is disabled."""
_WHY: Final = {
    "gone": "It answered 410 Gone, which says that it will not come back.",
    "failing": "It has not accepted a single event for five days.",
}


class Notices:
    """A service that sends the mails; without a mailer it logs that an endpoint was disabled."""

    def __init__(
        self,
        recorder: Recorder,
        reader: sqlite3.Connection,
        mailer: Mailer | None,
        operator: str | None,
    ) -> None:
        self._recorder = recorder
        self._reader = reader
        self._mailer = mailer
        self._operator = operator
        self._alarm = Alarm(recorder.clock, LOOK_S)

    def look(self) -> None:
        """Look now: an endpoint was disabled, and its owner is owed a mail."""
        self._alarm.ring()

    async def run(self) -> None:
        """Send what is owed, for life."""
        while True:
            notice = webhooks.next_notice(self._reader)
            if notice is not None and notice.due_at <= self._recorder.clock.now_ms():
                await self._tell(notice)
            else:
                await self._alarm.wait(None if notice is None else notice.due_at)

    async def _tell(self, notice: DisabledNotice) -> None:
        endpoint_id = notice.endpoint.id
        again_at = await self._send(notice)
        settle = partial(webhooks.settle_notice, endpoint_id=endpoint_id, again_at=again_at)
        await patiently("webhooks.notice", partial(self._recorder.journal.commit, settle))

    async def _send(self, notice: DisabledNotice) -> int | None:
        """Send a mail; when to try again (UTC epoch milliseconds), None where nothing is left to
        do."""
        to = notice.endpoint.notify or self._operator
        if self._mailer is None or to is None:
            log.warning("webhooks.notice.unsent", endpoint=notice.endpoint.id, reason="no address")
            return None
        try:
            await self._mailer.send(mail_of(notice, to))
        except MailNotSentError as error:
            log.warning("webhooks.notice.failed", endpoint=notice.endpoint.id, reason=str(error))
            if notice.tries + 1 >= TRIES_MAX:
                return None
            wait_ms: int = WAIT_S * 1000 * 2**notice.tries
            return self._recorder.clock.now_ms() + wait_ms
        return None


def mail_of(notice: DisabledNotice, to: str) -> Mail:
    """The mail that tells an owner of it."""
    endpoint = notice.endpoint
    why = _WHY.get(endpoint.disabled_reason or "", "It was disabled.")
    text = (
        f"Your webhook endpoint {endpoint.id} was disabled at {iso(endpoint.updated_at)}.\n\n"
        f"URL: {endpoint.url}\n{why}\n\n"
        "No events are sent to it any more. When it works again, enable it; the deliveries that\n"
        "failed can be replayed from any time on. Events of the time in which it was disabled\n"
        "are not owed to it.\n"
    )
    return Mail(to, f"Your webhook endpoint was disabled: {endpoint.id}", text)
