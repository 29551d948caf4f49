"""The audit trail: lines about manual actions."""

from __future__ import annotations

import sqlite3

from risala.dataclass import dataclass
from risala.engine.journal.pages import trail
from risala.engine.journal.people import mails
from risala.engine.journal.store import audit_log
from risala.engine.journal.store import key_file as trail_key
from risala.engine.journal.store.audited import audited
from risala.engine.journal.store.repository import Store, command, read, scan
from risala.engine.journal.upkeep.trail import check, heads, heads_file
from risala.engine.model.audit import AuditEntry


@dataclass(frozen=True, slots=True)
class AuditRepository:
    """Lines of the trail. All reads are on the loop's thread, by an index, but for the check.

    Heads that went out, and the key that signs them, are files beside the database: call these in a
    thread.
    """

    _store: Store

    page = read(trail.page)
    line = read(audit_log.line)
    version_of = read(audit_log.version_of)
    last_of = read(audit_log.last_of)
    end = read(audit_log.end)
    chained = read(audit_log.chained)
    names_key = read(heads.is_named)
    check_since = scan(check.check_since)
    owe_head = command(mails.owe_head)
    head_taken = read(heads.line_of_sink)
    note_head_taken = command(heads.note_line_of_sink)
    sent_heads = staticmethod(heads_file.read)
    last_sent_head = staticmethod(heads_file.last)
    add_sent_head = staticmethod(heads_file.add)
    signing_key = staticmethod(trail_key.load)

    async def note(self, entry: AuditEntry) -> int:
        """Write a line alone, for what is done elsewhere or only shown; its number.

        Raises:
            EditConflict: somebody else changed the thing since the entry's version.
            Unavailable: the line could not be written.
        """

        def unit(conn: sqlite3.Connection) -> int:
            audited(entry, _nothing)(conn)
            return audit_log.last_number(conn)

        return await self._store.commit(unit)


def _nothing(_: sqlite3.Connection) -> None:
    """The line's effect is elsewhere."""
