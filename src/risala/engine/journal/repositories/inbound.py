"""Incoming messages, their routes, and opt-outs."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from risala.engine.journal.carriers import notes
from risala.engine.journal.inbound import inbound, opt_outs
from risala.engine.journal.pages import inbound as lists
from risala.engine.journal.repositories.store import Store, command, read
from risala.engine.model.audit import AuditEntry
from risala.engine.model.records.inbound import InboundRoute
from risala.engine.model.records.messages import Stamp
from risala.engine.rules.receiptgroups import Groups
from risala.sms.message import Inbound


@dataclass(frozen=True, slots=True)
class InboundRepository:
    """Inbound messages, their routes, and opt-outs. All reads are on the loop's thread: by an
    index, or of tables that stay small (routes and policies are set by hand).

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    received = read(lists.received)
    routes = read(inbound.routes)
    opted_out = read(lists.opted_out)
    policies = read(opt_outs.policies)
    is_out = read(opt_outs.is_out)

    # -- commands

    async def receive(
        self,
        message_id: str,
        carrier: str,
        message: Inbound,
        stamp: Stamp,
        accounts: Groups,
        forget: Sequence[str],
    ) -> None:
        """Store a message once, give it to its organization, and apply it if it is an opt-out.

        Args:
            accounts: gives the carriers of one account.
            forget: the driver's notes to delete in the same transaction.
        """

        def unit(conn: sqlite3.Connection) -> None:
            inbound.receive(conn, message_id, carrier, message, stamp, accounts)
            notes.forget(conn, carrier, forget)

        await self._store.commit(unit)

    async def add_route(self, new: InboundRoute, *, by: AuditEntry) -> InboundRoute:
        """Make a route.

        Raises:
            Conflict: the number and the word lead to somebody already, or there are too many.
        """
        return await self._store.commit(partial(inbound.add_route, new=new), by)

    async def remove_route(self, route_id: str, *, by: AuditEntry) -> InboundRoute:
        """End a route.

        Raises:
            NotFound: the id is unknown.
        """
        return await self._store.commit(partial(inbound.remove_route, route_id=route_id), by)

    async def set_policy(
        self, organization_id: str, now_ms: int, *, heeds: bool, by: AuditEntry
    ) -> None:
        """Let an organization's recipients opt out, or not; existing opt-outs stay stored."""
        given = (organization_id, now_ms)
        await self._store.commit(lambda conn: opt_outs.set_policy(conn, *given, heeds=heeds), by)

    async def opt_out(
        self, organization_id: str, recipient: str, who: str, now_ms: int, *, by: AuditEntry
    ) -> bool:
        """Note by hand that an organization must not write to a number; False if it is noted."""
        given = (organization_id, recipient, who, now_ms)
        return await self._store.commit(lambda conn: opt_outs.note(conn, *given), by)

    async def opt_in(self, organization_id: str, recipient: str, *, by: AuditEntry) -> bool:
        """Let an organization write to a number again; False if it was allowed already."""
        given = (organization_id, recipient)
        return await self._store.commit(lambda conn: opt_outs.take_back(conn, *given), by)

    look_back = command(opt_outs.look_back)
