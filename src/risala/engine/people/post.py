"""The post: hands owed mails to the mailer, until each is settled.

A row stays due until its result is stored: if the process is killed after the mailer accepted a
mail and before that, the mail is sent again after the next start. So mails are sent at least once,
and hardly ever twice.
"""

from __future__ import annotations

from functools import partial
from typing import Final

import structlog
import trio

from risala.engine.actors.alarm import Alarm
from risala.engine.actors.retrying import retry_until_committed
from risala.engine.actors.set_aside import ItemLoop
from risala.engine.journal.people.mails import MailRepository
from risala.engine.journal.repositories import Repositories
from risala.engine.model.clock import Clock
from risala.engine.model.errors import Draining, Unavailable
from risala.engine.model.people_records import MailOutcome, OwedMail
from risala.engine.people.letters import Letters
from risala.plugins.mail import Mail, Mailer, MailNotSentError

log = structlog.get_logger(__name__)

AT_ONCE: Final = 4
"""Mails with the mailer at one time: a slow mail delays few others."""
EACH_MAX: Final = 3
"""Mails of one organization, or to one reader of none, with the mailer at one time: another's mail
begins at once, however many and slow those are."""
SEND_S: Final = 120.0
"""A mailer without an answer by then has failed; SMTP's own steps are shorter."""
WAIT_S: Final = 15
"""After a first failure; each wait is twice the one before: a person may be waiting for a code."""
TRIES_MAX: Final = 14
"""Three days of trying; mails that are no longer useful end sooner."""
WAIT_MAX_S: Final = 6 * 3600
TIDY_EVERY_S: Final = 3600.0


class Post:
    """A service; without a mailer it logs each mail once as unsent."""

    def __init__(
        self,
        clock: Clock,
        mails: MailRepository,
        letters: Letters,
        mailer: Mailer | None,
        items: ItemLoop,
    ) -> None:
        """
        Args:
            items: where a mail that breaks is set aside.
        """
        self._items = items
        self._clock = clock
        self._mails = mails
        self._letters = letters
        self._mailer = mailer
        self._alarm = Alarm(clock)
        self.wake = self._alarm.ring
        """A mail is owed."""
        self._in_flight: dict[int, str] = {}
        """The mails that are with the mailer, and whose each is."""

    async def run(self) -> None:
        """Send until cancelled."""
        self._in_flight.clear()
        async with trio.open_nursery() as crew:
            while True:
                await self._alarm.wait(self._hand_out(crew))

    def _hand_out(self, crew: trio.Nursery) -> int | None:
        """Start what is due; returns when to look again."""
        now_ms = self._clock.now_ms()
        if len(self._in_flight) >= AT_ONCE:
            return None  # the next one that ends rings
        # Turns go round: a second one of somebody comes behind the first of all others.
        count = AT_ONCE + EACH_MAX * len(self._in_flight) + len(self._items)
        for owed in self._mails.due(count, now_ms, self._items.broken_row):
            if owed.seq in self._in_flight or not self._items.is_free(owed.seq):
                continue
            if owed.due_at > now_ms:
                return owed.due_at
            if len(self._in_flight) >= AT_ONCE:
                return None
            if [*self._in_flight.values()].count(owed.whose) >= EACH_MAX:
                continue
            self._in_flight[owed.seq] = owed.whose
            crew.start_soon(self._deliver, owed)
        return None

    async def _deliver(self, owed: OwedMail) -> None:
        try:
            with self._items.item(owed.seq):
                await self._try(owed)
        except Draining:
            pass  # it is still owed; the next start finds it
        finally:
            del self._in_flight[owed.seq]
            self._alarm.ring()

    async def _try(self, owed: OwedMail) -> None:
        outcome = await self._attempt(owed)
        now_ms = self._clock.now_ms()
        if outcome is None:
            tries = owed.tries + 1
            due_at = now_ms + wait_ms(owed.tries)
            note = partial(self._mails.put_off, owed.seq, due_at, tries)
        else:
            note = partial(self._mails.settle, owed.seq, outcome, now_ms)
        await retry_until_committed("people.mail", note)

    async def _attempt(self, owed: OwedMail) -> MailOutcome | None:
        """The result of a mail; None: try again later."""
        if self._clock.now_ms() >= owed.useless_at:
            return MailOutcome.OVER
        await self._letters.prepare(owed)
        mail = self._letters.write(owed)
        if mail is None:
            return MailOutcome.OVER
        facts = {"kind": owed.kind.value, "mail": owed.seq}  # without recipient and content
        if self._mailer is None:
            log.warning("people.mail.unsent", reason="no mailer is set", **facts)
            return MailOutcome.NO_MAILER
        try:
            await self._send(self._mailer, mail)
        except MailNotSentError as error:
            last = owed.tries + 1 >= TRIES_MAX
            log.warning("people.mail.failed", reason=str(error), gives_up=last, **facts)
            return MailOutcome.GIVEN_UP if last else None
        return MailOutcome.SENT

    async def _send(self, mailer: Mailer, mail: Mail) -> None:
        try:
            with trio.fail_after(SEND_S):
                await mailer.send(mail)
        except trio.TooSlowError:
            raise MailNotSentError("The mailer did not answer in time.") from None
        except MailNotSentError:
            raise
        except Exception as error:
            log.exception("people.mail.bug")
            raise MailNotSentError("The mailer has a bug; see the log.") from error


def wait_ms(tries: int) -> int:
    """The wait after this many earlier failures."""
    return int(min(WAIT_S * 2**tries, WAIT_MAX_S)) * 1000


async def keep_tidy(repositories: Repositories, clock: Clock) -> None:
    """Delete expired requests, links, sessions, and mails of last week, until cancelled."""
    while True:
        now_ms = clock.now_ms()
        try:
            for forget in (
                repositories.sign_in.forget_over,
                repositories.web_sessions.forget_over,
                repositories.mails.forget_settled,
            ):
                await forget(now_ms)
        except Unavailable as error:
            log.warning("people.tidy", reason=str(error))
        await trio.sleep(TIDY_EVERY_S)
