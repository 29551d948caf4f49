"""Alerts, the calls that are owed about them, and the facts by which they are judged."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

import trio

from risala.dataclass import dataclass
from risala.engine.journal.alerts import alerts, calls, facts, hours, turns
from risala.engine.journal.repositories.store import Store, audited_command, command, read
from risala.engine.model.records.upkeep.alerts import LowBalance, NetworkHour


@dataclass(frozen=True, slots=True)
class AlertRepository:
    """Alerts, mutes, and calls that are owed. All reads are on the loop's thread: alerts and mutes
    are bounded by number.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    opened = read(alerts.opened)
    open_count = read(alerts.open_count)
    open_counts = read(alerts.open_counts)
    alert = read(alerts.alert)
    page = read(alerts.page)
    mutes = read(alerts.mutes)
    first_call = read(calls.first)
    receipts_seen = read(hours.receipts_seen)
    ends_seen = read(hours.ends_seen)

    # -- commands

    write = command(turns.write)
    note_receipts = command(hours.note_receipts)

    async def tidy(
        self, carriers: Mapping[str, bool], *, alerts_before: int, receipts_before: int, now_ms: int
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

    acknowledge = audited_command(alerts.acknowledge)
    mute = audited_command(alerts.mute)
    unmute = audited_command(alerts.unmute)
    begin_call = command(calls.begin)
    put_off_call = command(calls.put_off)
    settle_call = command(calls.settle)


@dataclass(frozen=True, slots=True)
class AlertFactsRepository:
    """What alerts are judged by, over all organizations. Each read is on the loop's thread and
    looks at a bounded number of rows; those that are ``async`` look at some organizations at a
    time, and let others run in between.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    oldest_due = read(facts.oldest_due)
    codes_by_prefix = read(facts.codes_by_prefix)
    has_inbound_routes = read(facts.has_inbound_routes)
    inbound_unserved = read(facts.inbound_unserved)
    newest_ms = read(facts.newest_ms)
    first_ms = read(facts.first_ms)

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

    first_hour = read(hours.first_hour)
    last_hour = read(hours.last_hour)
    deliveries = read(hours.deliveries)
    approvals = read(hours.approvals)

    async def hour(self, hour: int) -> dict[str, NetworkHour]:
        """How each network did in an hour, all organizations together."""
        reader, found = self._store.reader, dict[str, NetworkHour]()
        for first in range(0, hours.organizations_end(reader), hours.ORGANIZATIONS_AT_ONCE):
            hours.add_counts(reader, hour, first, found)
            await trio.lowlevel.checkpoint()
        hours.add_sessions(reader, hour, found)
        return found

    write_hours = command(hours.write)
