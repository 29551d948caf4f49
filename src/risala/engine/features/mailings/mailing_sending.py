"""Sends mailings: some rows of each in turn, through the intake, as a batch is sent.

A row's message has the row's key for ever, so that a crash between its acceptance and its note
changes nothing: what is sent again is answered as before. What a mailing waits for rings: a
top-up, a change of its organization, a queue that empties; and time does.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import field
from functools import partial
from typing import Final

import structlog
import trio

from risala.dataclass import dataclass
from risala.engine.actors.alarm import LOOK_S, Bell
from risala.engine.actors.broadcast import Broadcast
from risala.engine.actors.retrying import retry_until_committed
from risala.engine.features.mailings.records import Mailing, MailingState, MailingWait
from risala.engine.features.mailings.row_records import ReadyRow, SettledRow, StoredMailing
from risala.engine.features.mailings.rules import (
    meaning_of,
    next_midnight,
    opens_at,
    pace_of,
)
from risala.engine.features.mailings.sources import MailingSources
from risala.engine.features.tables.records import RowFault
from risala.engine.features.tables.rules.rendering import render
from risala.engine.model.commands import LifeEvent, SendMessage
from risala.engine.model.errors import (
    Conflict,
    Draining,
    EngineError,
    NotFound,
    RateLimited,
    Unavailable,
)
from risala.engine.model.ids import key_of
from risala.engine.model.records.people.organizations import Organization
from risala.engine.model.states import PRIORITY_MAILING, Status

log = structlog.get_logger(__name__)

ROWS_AT_ONCE: Final = 100
"""Rows of one turn: as many as a batch of programs usually has."""
QUEUED_MAX: Final = 1000
"""Messages of an organization's mailings that wait for a carrier: a pause holds back all others."""
ROOM_MIN: Final = 100
"""A full queue is filled again when so many have left it."""
AGAIN_MS: Final = 5000
"""Milliseconds until another try where a service or a policy failed."""
_LOOK_MS: Final = round(1000 * LOOK_S)
_TOLD: Final = (MailingWait.SEND_AT, MailingWait.HOURS, MailingWait.SPEND_CAP)
"""Waits whose end is known, and is shown."""


@dataclass(slots=True)
class _Sender:
    """A mailing that sends, between its turns."""

    mailing_id: str
    organization_id: str
    at_ms: int = 0
    """The earliest time of the next turn."""
    wait: MailingWait | None = None
    flows: bool = False
    """Whether the last turn ended without a reason to wait."""
    released_ms: int | None = None
    """When its last messages were made, where it has a pace."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Why a mailing cannot send for the moment, and when it looks again."""

    wait: MailingWait
    at_ms: int


@dataclass(frozen=True, slots=True)
class MailingNews:
    """What mailings hear of the rest of the engine."""

    organizations: Broadcast[str]
    """An organization was changed, or a sender of its."""
    credits: Broadcast[str]
    """An organization's balance grew."""
    life: Broadcast[LifeEvent]
    """Messages go on."""


@dataclass(slots=True)
class _Drain:
    """Counts the messages that leave the queues which mailings wait for."""

    bell: Bell
    left: dict[str, int] = field(default_factory=dict)
    """How many more messages must leave, by organization."""

    def heard(self, event: LifeEvent) -> None:
        left = self.left.get(event.organization_id)
        if left is not None and event.status != Status.PENDING:
            self.left[event.organization_id] = left - 1
            if left <= 1:
                self.bell.ring()


class MailingSending:
    """The service that sends mailings; one task."""

    def __init__(self, sources: MailingSources, news: MailingNews) -> None:
        self._sources = sources
        self._mailings = sources.mailings
        self._news = news
        self._bell = Bell()
        self._senders: dict[str, _Sender] = {}
        self._is_stale = True
        self._unread: set[str] = set()
        """Mailings whose rows could not be read with the last loading."""
        self.between_turns = trio.Lock()
        """Whoever holds it knows that no rows are between their messages and their note."""
        self._items = sources.set_aside.loop("mailings")
        self._rows_max = max(1, min(ROWS_AT_ONCE, sources.settings.engine.intake_max // 2))

    def changed(self) -> None:
        """A mailing was started, changed or ended."""
        self._is_stale = True
        self._bell.ring()

    def counts(self) -> tuple[int, int]:
        """How many mailings send, and how many of them wait for something."""
        waiting = sum(each.wait is not None for each in self._senders.values())
        return len(self._senders), waiting

    async def run(self) -> None:
        """Send the mailings that are started, until cancelled."""
        self._is_stale = True
        with ExitStack() as hearing:
            hearing.enter_context(self._news.organizations.hear(self._organization_changed))
            hearing.enter_context(self._news.credits.hear(self._credited))
            try:
                while True:
                    await self._give_turns()
            except Draining:
                await trio.sleep_forever()  # the service stops: the next one goes on

    # -- what is heard

    def _organization_changed(self, organization_id: str) -> None:
        self._wake(organization_id, tuple(MailingWait))

    def _credited(self, organization_id: str) -> None:
        self._wake(organization_id, (MailingWait.BALANCE,))

    def _wake(self, organization_id: str, waits: Sequence[MailingWait]) -> None:
        for each in self._senders.values():
            if each.organization_id == organization_id and each.wait in waits:
                each.at_ms = 0
                self._bell.ring()

    # -- turns

    async def _give_turns(self) -> None:
        """Give each mailing that can send its turns, until all wait; then wait for the first."""
        if self._is_stale or any(map(self._items.is_free, self._unread)):
            self._load()
        now_ms = self._sources.clock.now_ms()
        due = [each for each in self._free() if each.at_ms <= now_ms]
        for each in due:
            async with self.between_turns:
                with self._items.item(each.mailing_id):
                    await self._turn(each)
        if due or self._is_stale:
            return
        drain = self._draining()
        with ExitStack() as hearing:
            if drain.left:
                hearing.enter_context(self._news.life.hear(drain.heard))
            await self._bell.wait(self._next_look_s())
        for each in self._senders.values():
            if each.wait is MailingWait.QUEUE and drain.left.get(each.organization_id, 1) <= 0:
                each.at_ms = 0

    def _next_look_s(self) -> float:
        """When time alone gives a mailing its turn, on Trio's clock; soon, where there is one: the
        wall clock may be set."""
        next_ms = min((each.at_ms for each in self._free()), default=None)
        if next_ms is None:
            return self._items.again_s
        return trio.current_time() + min(LOOK_S, max(0, next_ms - self._now_ms) / 1000)

    def _free(self) -> list[_Sender]:
        """The mailings that are not set aside."""
        return self._items.free([*self._senders.values()], lambda each: each.mailing_id)

    def _load(self) -> None:
        self._is_stale = False
        self._unread.clear()
        known, self._senders = self._senders, {}
        for each in (one.mailing for one in self._mailings.to_send(self._left_unread)):
            sender = known.get(each.id)
            if sender is None:
                sender = _Sender(each.id, each.organization_id)
                if each.accepted:  # a pace goes on where the last service was
                    sender.released_ms = self._sources.clock.now_ms()
            sender.at_ms = 0
            self._senders[each.id] = sender

    def _left_unread(self, mailing_id: str, fault: Exception) -> None:
        self._items.broken_row(mailing_id, fault)
        self._unread.add(mailing_id)

    def _draining(self) -> _Drain:
        """How much must leave the queues that mailings wait for."""
        drain = _Drain(self._bell)
        for each in self._senders.values():
            if each.wait is MailingWait.QUEUE:
                room = self._room(each.organization_id)
                if room >= ROOM_MIN:
                    each.at_ms = 0
                    self._bell.ring()
                else:
                    drain.left[each.organization_id] = ROOM_MIN - room
        return drain

    def _room(self, organization_id: str) -> int:
        return QUEUED_MAX - self._mailings.queued(organization_id, PRIORITY_MAILING, QUEUED_MAX)

    async def _turn(self, sender: _Sender) -> None:
        """Send some rows of a mailing, or note what it waits for."""
        try:
            stored = self._mailings.stored(sender.mailing_id)
            mailing = stored.mailing
            if mailing.state is not MailingState.SENDING:
                self._senders.pop(sender.mailing_id, None)
                return
            organization = self._sources.accounts.organization(mailing.organization_id)
            waiting = self._obstacle(mailing, organization)
            if waiting is not None:
                await self._wait(sender, mailing, waiting)
                return
            count = self._count_now(sender, mailing)
            if not count:
                return
            rows = self._mailings.ready(stored.key, count)
            if rows:
                await self._send(sender, stored, organization, rows)
            else:
                await self._end(sender)
        except NotFound:  # it was deleted, with its organization or alone
            self._senders.pop(sender.mailing_id, None)

    def _obstacle(self, mailing: Mailing, organization: Organization) -> _Waiting | None:
        """What is known to be in the way; None: nothing is."""
        now_ms, look_ms = self._now_ms, self._now_ms + _LOOK_MS
        if organization.status != "active":
            return _Waiting(MailingWait.SUSPENDED, look_ms)
        if mailing.send_at is not None and now_ms < mailing.send_at:
            return _Waiting(MailingWait.SEND_AT, mailing.send_at)
        zone = organization.time_zone
        opens_ms = opens_at(zone, mailing.from_hour, mailing.to_hour, now_ms)
        if opens_ms is not None:
            return _Waiting(MailingWait.HOURS, opens_ms)
        # A queue that was full is filled again by the hundred, one with any room once.
        room = self._room(organization.id)
        if room < (ROOM_MIN if mailing.wait is MailingWait.QUEUE else 1):
            return _Waiting(MailingWait.QUEUE, look_ms)
        return None

    def _count_now(self, sender: _Sender, mailing: Mailing) -> int:
        """How many messages may be made now; 0: its pace makes it wait."""
        count = min(self._rows_max, self._room(mailing.organization_id))
        if mailing.pace is None:
            sender.released_ms = None
            return count
        pace, now_ms = pace_of(mailing.pace, self._rows_max), self._now_ms
        if sender.released_ms is not None:
            next_ms = sender.released_ms + pace.period_ms
            # A clock that was set back must not hold it up for longer than a period.
            if now_ms < next_ms <= now_ms + pace.period_ms:
                sender.at_ms = next_ms
                return 0
        sender.released_ms = now_ms
        return min(count, pace.messages)

    async def _end(self, sender: _Sender) -> None:
        try:
            await self._mailings.end(None, sender.mailing_id, MailingState.DONE, self._now_ms)
        except Conflict:  # it was ended by hand meanwhile, or a row was mended
            self._is_stale = True
            return
        self._senders.pop(sender.mailing_id, None)
        log.info("mailing.done", mailing=sender.mailing_id)

    # -- sending

    async def _send(
        self,
        sender: _Sender,
        stored: StoredMailing,
        organization: Organization,
        rows: Sequence[ReadyRow],
    ) -> None:
        mailing, left = stored.mailing, self._mailings.left_by_list(stored, rows)
        settled = [SettledRow(row, None, RowFault.OPTED_OUT) for row in sorted(left)]
        rows = [each for each in rows if each.row not in left]
        if sender.flows and mailing.wait is not None:
            await self._note_wait(mailing, None, None)
        principal = self._sources.principal_of(mailing)
        commands = [_command(mailing, row) for row in rows]
        try:
            results: Sequence[bytes | EngineError] = await self._sources.intake.send_batch(
                principal, commands
            )
        except Draining:
            raise
        except EngineError as error:
            # The whole batch failed: of no row is it known what became of it.
            results = [error] * len(rows)
        waiting: _Waiting | None = None
        for row, result in zip(rows, results, strict=True):
            if isinstance(result, bytes):
                settled.append(SettledRow(row.row, _message_key(result), None))
                continue
            meaning = meaning_of(result)
            if isinstance(meaning, RowFault):
                settled.append(SettledRow(row.row, None, meaning))
            else:
                waiting = _Waiting(meaning, self._again_ms(result, meaning, organization))
        if settled:
            note = partial(self._mailings.settle, mailing.id, settled)
            await retry_until_committed("mailings", note)
        sender.flows, sender.wait = waiting is None, None
        if waiting is not None:
            await self._wait(sender, mailing, waiting)

    def _again_ms(self, error: object, wait: MailingWait, organization: Organization) -> int:
        """When it is worth trying again, if nothing rings before."""
        now_ms = self._now_ms
        if isinstance(error, RateLimited):
            return now_ms + 1000 * max(1, error.retry_after_s)
        if wait is MailingWait.SPEND_CAP:
            return next_midnight(organization.time_zone, now_ms)
        if isinstance(error, Unavailable):
            return now_ms + max(AGAIN_MS, 1000 * error.retry_after_s)
        return now_ms + _LOOK_MS

    async def _wait(self, sender: _Sender, mailing: Mailing, waiting: _Waiting) -> None:
        sender.flows, sender.wait, sender.at_ms = False, waiting.wait, waiting.at_ms
        again_at = waiting.at_ms if waiting.wait in _TOLD else None
        await self._note_wait(mailing, waiting.wait, again_at)

    async def _note_wait(
        self, mailing: Mailing, wait: MailingWait | None, again_at: int | None
    ) -> None:
        if (mailing.wait, mailing.again_at) != (wait, again_at):
            note = partial(self._mailings.wait, mailing.id, wait, again_at)
            await retry_until_committed("mailings", note)

    @property
    def _now_ms(self) -> int:
        return self._sources.clock.now_ms()


def _command(mailing: Mailing, row: ReadyRow) -> SendMessage:
    return SendMessage(
        to=row.number,
        body=render(mailing.text, mailing.columns, row.cells),
        sender=mailing.sender,
        idempotency_key=f"{mailing.id}:{row.row}",
        priority=PRIORITY_MAILING,
    )


def _message_key(answer: bytes) -> int:
    key = key_of(json.loads(answer)["messageId"])
    assert key is not None
    return key
