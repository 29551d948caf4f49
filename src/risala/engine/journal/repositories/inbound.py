"""Incoming messages, their routes, and opt-outs."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from risala.dataclass import dataclass
from risala.engine.journal import carriers
from risala.engine.journal.inbound import inbound, opt_outs
from risala.engine.journal.pages import inbound as lists
from risala.engine.journal.store.repository import Store, audited_command, command, read, scan
from risala.engine.model.records.messages import Stamp
from risala.engine.rules.receiptgroups import Groups
from risala.sms.message import Inbound


@dataclass(frozen=True, slots=True)
class InboundRepository:
    """Inbound messages, their routes, and opt-outs. Reads are on the loop's thread: by an
    index, or of tables that stay small (routes and policies are set by hand). Searches for a part
    of a number are on a thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    received = read(lists.received)
    received_by_part = scan(lists.received)
    routes = read(inbound.routes)
    opted_out = read(lists.opted_out)
    opted_out_by_part = scan(lists.opted_out)
    policies = read(opt_outs.policies)
    is_out = read(opt_outs.is_out)

    # -- commands

    async def receive(
        self,
        message_id: str,
        carrier: str,
        message: Inbound,
        ways: inbound.Ways,
        stamp: Stamp,
        accounts: Groups,
        forget: Sequence[str],
    ) -> None:
        """Store a message once, give it to its organization, and apply it if it is an opt-out.

        Args:
            ways: those in which its recipient may be written.
            accounts: gives the carriers of one account.
            forget: the driver's notes to delete in the same transaction.
        """

        def unit(conn: sqlite3.Connection) -> None:
            inbound.receive(conn, message_id, carrier, message, ways, stamp, accounts)
            carriers.forget_notes(conn, carrier, forget)

        await self._store.commit(unit)

    add_route = audited_command(inbound.add_route)
    remove_route = audited_command(inbound.remove_route)
    set_policy = audited_command(opt_outs.set_policy)
    opt_out = audited_command(opt_outs.note)
    opt_in = audited_command(opt_outs.take_back)
    look_back = command(opt_outs.look_back)
