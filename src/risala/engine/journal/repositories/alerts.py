"""Alerts, the calls that are owed about them, and the facts by which they are judged."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import trio

from risala.engine.journal.alerts import alerts, calls, facts, hours, turns
from risala.engine.journal.repositories.store import Store
from risala.engine.model.audit import AuditEntry
from risala.engine.model.records.alerts import LowBalance, NetworkHour
from risala.engine.rules.alerts.alert import Alert, AlertKind, AlertMute
from risala.engine.rules.alerts.turning import AlertAudience, AlertCall, Turning
from risala.engine.rules.alerts.usual import Rate


@dataclass(frozen=True, slots=True)
class AlertRepository:
    """Alerts, mutes, and calls that are owed. All reads are on the loop's thread: alerts and mutes
    are bounded by number.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    def opened(self) -> list[Alert]:
        """The open alerts, the oldest first."""
        return alerts.opened(self._store.reader)

    def open_count(self) -> int:
        """The number of open alerts."""
        return alerts.open_count(self._store.reader)

    def open_counts(self) -> Counter[AlertKind]:
        """The number of open alerts, by kind."""
        return alerts.open_counts(self._store.reader)

    def alert(self, seq: int) -> Alert:
        """One alert.

        Raises:
            NotFound: the number is unknown.
        """
        return alerts.alert(self._store.reader, seq)

    def page(
        self,
        limit: int,
        *,
        before: int | None = None,
        is_open: bool | None = None,
        kind: str | None = None,
    ) -> list[Alert]:
        """Alerts, the newest first."""
        return alerts.page(self._store.reader, limit, before=before, is_open=is_open, kind=kind)

    def mutes(self, now_ms: int) -> list[AlertMute]:
        """The mutes in force, the newest first."""
        return alerts.mutes(self._store.reader, now_ms)

    def first_call(self) -> AlertCall | None:
        """The owed call that is due first."""
        return calls.first(self._store.reader)

    def receipts_seen(self) -> dict[str, int]:
        """Carriers that have given receipts, and when they were last known to."""
        return hours.receipts_seen(self._store.reader)

    # -- commands

    async def write(self, turning: Sequence[Turning], audience: AlertAudience, now_ms: int) -> None:
        """Store the turns, and owe the mails and calls, also for formerly muted alerts."""
        unit = partial(turns.write, turning=turning, audience=audience, now_ms=now_ms)
        await self._store.commit(unit)

    async def note_receipts(self, carriers: Sequence[str], now_ms: int) -> None:
        """These carriers give receipts."""
        await self._store.commit(partial(hours.note_receipts, carriers=carriers, now_ms=now_ms))

    async def tidy(
        self, carriers: Sequence[str], *, alerts_before: int, receipts_before: int, now_ms: int
    ) -> None:
        """:meth:`note_receipts`, and forget what is old.

        Args:
            alerts_before: alerts that were over then.
            receipts_before: carriers that were last known then to give receipts.
        """

        def unit(conn: sqlite3.Connection) -> None:
            hours.note_receipts(conn, carriers, now_ms)
            hours.forget_receipts(conn, receipts_before)
            alerts.forget_old(conn, alerts_before, now_ms)
            calls.forget_settled(conn, now_ms)

        await self._store.commit(unit)

    async def acknowledge(self, seq: int, who: str, now_ms: int, *, by: AuditEntry) -> Alert:
        """Note who takes care of it. The first name stays.

        Raises:
            NotFound: the number is unknown.
        """
        unit = partial(alerts.acknowledge, seq=seq, by=who, now_ms=now_ms)
        return await self._store.commit(unit, by)

    async def mute(
        self,
        kind: AlertKind,
        subject: str | None,
        until: int,
        who: str,
        now_ms: int,
        *,
        by: AuditEntry,
    ) -> AlertMute:
        """Mute alerts for a time, in the place of an earlier mute of the same ones.

        Raises:
            Conflict: there are too many.
        """
        given = (kind, subject, until, who, now_ms)
        return await self._store.commit(lambda conn: alerts.mute(conn, *given), by)

    async def unmute(self, seq: int, *, by: AuditEntry) -> AlertMute:
        """End a mute.

        Raises:
            NotFound: the mute does not exist.
        """
        return await self._store.commit(partial(alerts.unmute, seq=seq), by)

    async def begin_call(self, seq: int) -> int:
        """An attempt at a call begins; returns the number of attempts, including it."""
        return await self._store.commit(partial(calls.begin, seq=seq))

    async def put_off_call(self, seq: int, due_at: int) -> None:
        """A call is tried again then."""
        await self._store.commit(partial(calls.put_off, seq=seq, due_at=due_at))

    async def settle_call(self, seq: int, outcome: str, now_ms: int) -> None:
        """A call is owed no longer."""
        unit = partial(calls.settle, seq=seq, outcome=outcome, now_ms=now_ms)
        await self._store.commit(unit)


@dataclass(frozen=True, slots=True)
class AlertFactsRepository:
    """What alerts are judged by, over all organizations. Each read is on the loop's thread and
    looks at a bounded number of rows; those that are ``async`` look at some organizations at a
    time, and let others run in between.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    def oldest_due(self, now_ms: int) -> dict[str, int]:
        """Since when the oldest message that is due has waited, by route."""
        return facts.oldest_due(self._store.reader, now_ms)

    def codes_by_prefix(self, since_ms: int, characters: int) -> Mapping[str, Rate]:
        """Ended and approved sessions, by the prefix of the number."""
        return facts.codes_by_prefix(self._store.reader, since_ms, characters)

    def has_inbound_routes(self) -> bool:
        """Whether incoming messages have any route."""
        return facts.has_inbound_routes(self._store.reader)

    def inbound_unserved(self, since_ms: int) -> dict[str, int]:
        """Incoming messages without a receiver, by the number that they came to."""
        return facts.inbound_unserved(self._store.reader, since_ms)

    def newest_ms(self) -> int | None:
        """When the newest row was written, by the clock of that time; None: there is no row."""
        return facts.newest_ms(self._store.reader)

    def first_ms(self) -> int | None:
        """Since when there is something to lose; None: nothing."""
        return facts.first_ms(self._store.reader)

    async def low_balances(self, limit: int, now_ms: int) -> list[LowBalance]:
        """Active organizations that have sent lately, and whose balance is below their limit.

        Args:
            limit: of those that have none of their own, in minor units.
        """
        reader, found = self._store.reader, list[LowBalance]()
        for first in range(0, hours.organizations_end(reader), hours.ORGANIZATIONS_AT_ONCE):
            found += facts.low_balances(reader, first, limit, now_ms)
            await trio.lowlevel.checkpoint()
        return found[: facts.LOW_MAX]

    # -- networks by the hour

    def first_hour(self) -> int | None:
        """The first hour that may have counts; None: there is no organization."""
        return hours.first_hour(self._store.reader)

    def last_hour(self) -> int | None:
        """The newest hour that was stored."""
        return hours.last_hour(self._store.reader)

    def deliveries(self, since: int) -> Sequence[tuple[str, int, int, int]]:
        """Network, hour, accepted and delivered, from an hour on."""
        return hours.deliveries(self._store.reader, since)

    def approvals(self, since: int) -> Sequence[tuple[str, int, int, int]]:
        """Network, hour, sessions that ended and those approved, from an hour on."""
        return hours.approvals(self._store.reader, since)

    async def hour(self, hour: int) -> dict[str, NetworkHour]:
        """How each network did in an hour, all organizations together."""
        reader, found = self._store.reader, dict[str, NetworkHour]()
        for first in range(0, hours.organizations_end(reader), hours.ORGANIZATIONS_AT_ONCE):
            hours.add_counts(reader, hour, first, found)
            await trio.lowlevel.checkpoint()
        hours.add_sessions(reader, hour, found)
        return found

    async def write_hours(
        self, found: Mapping[int, Mapping[str, NetworkHour]], before: int
    ) -> None:
        """Store hours, and delete those before the hour ``before``."""
        await self._store.commit(partial(hours.write, found=found, before=before))
