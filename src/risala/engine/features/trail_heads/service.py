"""Sends the signed head of the audit trail out, once a day if there are new lines.

Whoever has an old head can show that lines were changed, removed or put in since. It goes where an
intruder of this machine has less to say: into the log, by mail to operators, and to the standby.
The lines since the last head are checked first: a trail that is broken gets no new one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeVar

import structlog
import trio

from risala.config.model import Settings
from risala.engine.actors.retrying import retry_until_committed
from risala.engine.model.audit import AuditEntry
from risala.engine.model.callers import PROCESS
from risala.engine.model.errors import StorageUnusable, Unavailable
from risala.engine.model.feature_work import Duty
from risala.engine.model.features import Task, duty
from risala.engine.model.times import iso
from risala.engine.rules.trail import heads
from risala.engine.rules.trail.heads import KEY, Head
from risala.engine.services import Services

T = TypeVar("T")

log = structlog.get_logger(__name__)

FIRST_S: Final = 600.0
"""After a start: what signs takes 7 MB of memory, which a service that begins need not have."""
LOOK_S: Final = 3600.0
"""Between two looks whether a head is due."""
EVERY_MS: Final = 86_400_000
"""Between two heads."""
LINES_LOOKED: Final = 100_000
"""Lines that one look reads, and those of a day besides: a second of one core. A longer trail is
read back to the newest head that is at least as old; `risala audit` reads all of it."""
EARLY_MS: Final = 1_800_000
"""A head is due this much sooner, so that looks every hour do not put it off by one each day."""


class TrailHeads:
    """See the module's text."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._stored = services.repositories.audit
        self._clock = services.recorder.clock
        self._mails = services.settings.alerts.mail
        self._inline = services.recorder.journal.is_on_loop
        self._directory = services.settings.storage.data_dir
        self._looked_ms = -EVERY_MS

    def retune(self, settings: Settings) -> None:
        """From now on, mail heads if these say so."""
        self._mails = settings.alerts.mail

    async def run(self) -> None:
        """Look whether a head is due, until cancelled."""
        await trio.sleep(FIRST_S)
        while True:
            try:
                await self.look_due()
                await self.send_due()
                await self._in_thread(self._ship)
            except (Unavailable, StorageUnusable, OSError) as error:
                log.warning("audit.unsigned", reason=str(error))
            await trio.sleep(LOOK_S)

    async def look_due(self) -> None:
        """Once a day, check that the trail is as it was written, and remember the faults for the
        alert `trail_broken`. A trail that is broken is looked at each time.

        Raises:
            StorageUnusable: the heads cannot be read.
            Unavailable: the database cannot be read.
        """
        state, now_ms = self._services.trail, self._clock.now_ms()
        if not state.faults and now_ms - self._looked_ms < EVERY_MS - EARLY_MS:
            return
        self._looked_ms = now_ms
        sent = await self._in_thread(partial(self._stored.sent_heads, self._directory))
        before = self._stored.end().seq - LINES_LOOKED
        old = [each for each in sent if each.end.seq <= before]
        state.faults = await self._stored.check_since(old[-1] if old else None)
        if state.faults:
            log.error("audit.broken", faults=[*state.faults])

    async def send_due(self) -> None:
        """Send a head out if one is due.

        Raises:
            StorageUnusable: the key cannot be read or made.
            Unavailable: the database cannot be written.
            OSError: the data directory cannot be written.
        """
        last = await self._in_thread(partial(self._stored.last_sent_head, self._directory))
        if not self._is_due(last):
            return
        faults = await self._stored.check_since(last)
        if faults:
            self._services.trail.faults = faults
            log.error("audit.broken", faults=[*faults])
            return
        seed = await self._in_thread(partial(self._stored.signing_key, self._directory))
        key = await self._in_thread(partial(heads.public_key, seed))
        now_ms = self._clock.now_ms()
        if not self._stored.names_key(key):
            entry = AuditEntry(caller=PROCESS, action=KEY, at=now_ms, subject=key, always=True)
            await self._stored.note(entry)
        head = heads.signed_head(self._stored.end(), iso(now_ms), seed)
        await self._send(head, now_ms)

    def _is_due(self, last: Head | None) -> bool:
        end = self._stored.end()
        if last is None:
            return end.seq > 0
        return end != last.end and last.at < iso(self._clock.now_ms() - EVERY_MS + EARLY_MS)

    async def _send(self, head: Head, now_ms: int) -> None:
        await self._in_thread(partial(self._stored.add_sent_head, self._directory, head))
        log.info("audit.head", head=head.text)
        wake_post, to = self._services.surroundings.wake_post, self._services.settings.mail.operator
        if self._mails and wake_post is not None:
            owe = partial(self._stored.owe_head, head.text, head.end.seq, to, now_ms)
            await retry_until_committed("audit.head", owe)
            wake_post()

    def _ship(self) -> None:
        """Give the feature that takes them elsewhere today's head, and those of days on which that
        could not be reached."""
        try:
            give_heads = duty(Duty.HEADS)
            if give_heads is not None:
                give_heads(self._services.settings, self._stored.sent_heads(self._directory))
        except OSError as error:
            log.warning("audit.unshipped", reason=str(error))

    async def _in_thread(self, work: Callable[[], T]) -> T:
        if self._inline:
            await trio.lowlevel.checkpoint()
            return work()
        return await trio.to_thread.run_sync(work)


def tasks(services: Services) -> Sequence[Task]:
    """What runs for the heads as long as the service."""
    return (("audit heads", services.part(TrailHeads).run, True),)


def retune(services: Services, settings: Settings) -> None:
    """Apply settings that changed while the service runs."""
    services.part(TrailHeads).retune(settings)
