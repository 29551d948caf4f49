"""Pages of the audit trail, the newest first, with any filter."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

from risala.dataclass import dataclass
from risala.engine.journal.audit import check, heads, heads_file
from risala.engine.journal.people import mails
from risala.engine.journal.store import audit_log
from risala.engine.journal.store.audit_log import LINES
from risala.engine.journal.store.audited import audited
from risala.engine.journal.store.key_file import load_trail_key
from risala.engine.journal.store.pages import Walk, page_by_time
from risala.engine.journal.store.repository import Store, command, read, scan
from risala.engine.model.audit import FAMILY_END, AuditEntry, TrailFilter
from risala.engine.model.records.asks import TIME_END, CursorPage, Place, Steps
from risala.engine.model.records.upkeep.trail import AuditLine


def _hit(filters: TrailFilter) -> tuple[str, tuple[object, ...]]:
    """The condition for a wanted line."""
    conditions: list[str] = []
    values: list[object] = []
    for column in ("organization_id", "who", "face", "subject"):
        value = getattr(filters, column)
        if value is not None:
            conditions.append(f"{column} = ?")
            values.append(value)
    if filters.action is not None and filters.action.endswith(FAMILY_END):
        conditions.append("action >= ? AND action < ?")
        values += [filters.action, f"{filters.action[:-1]}{chr(ord(FAMILY_END) + 1)}"]
    elif filters.action is not None:
        conditions.append("action = ?")
        values.append(filters.action)
    if filters.left_out:
        conditions.append(f"action NOT IN ({', '.join('?' * len(filters.left_out))})")
        values += filters.left_out
    if filters.subject is not None:  # its lines are read by their numbers
        conditions.append("at >= ? AND at < ?")
        values += [filters.since or 0, TIME_END if filters.until is None else filters.until]
    return " AND ".join(conditions) or "1", tuple(values)


def _way(filters: TrailFilter) -> Walk:
    """The index with the fewest lines to read."""
    hit, hit_values = _hit(filters)
    if filters.subject is not None:
        source = "audit_log INDEXED BY audit_log_by_subject_seq"
        return Walk(source, "subject = ?", (filters.subject,), hit, hit_values, ("seq",))
    index, where = "audit_log_by_time", "1"
    values: tuple[object, ...] = ()
    if filters.action is not None and not filters.action.endswith(FAMILY_END):
        index, where, values = "audit_log_by_action_time", "action = ?", (filters.action,)
    elif filters.organization_id is not None:
        index, where = "audit_log_by_organization_time", "organization_id = ?"
        values = (filters.organization_id,)
    return Walk(
        f"audit_log INDEXED BY {index}",
        where,
        values,
        hit,
        hit_values,
        ("at", "seq"),
        since=filters.since or 0,
        until=TIME_END if filters.until is None else filters.until,
    )


def page(conn: sqlite3.Connection, filters: TrailFilter, steps: Steps) -> CursorPage[AuditLine]:
    """One page of the wanted lines; places are times and numbers of lines."""
    way = _way(filters)
    if way.order == ("seq",):
        before, after = (None if each is None else each[1:] for each in (steps.before, steps.after))
        steps = replace(steps, before=before, after=after)
        lines = page_by_time(conn, LINES, way, steps, _number_of)
        return replace(lines, newer=_timed(lines.newer), older=_timed(lines.older))
    return page_by_time(conn, LINES, way, steps, place_of)


def place_of(line: AuditLine) -> Place:
    return (line.at, line.seq)


def _number_of(line: AuditLine) -> Place:
    return (line.seq,)


def _timed(place: Place | None) -> Place | None:
    """A place of lines that are read by their numbers alone, in the common form."""
    return None if place is None else (0, *place)


# -- for the rest of the engine


@dataclass(frozen=True, slots=True)
class AuditRepository:
    """Lines of the trail. All reads are on the loop's thread, by an index, but for the check.

    Heads that went out, and the key that signs them, are files beside the database: call these in a
    thread.
    """

    _store: Store

    page = read(page)
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
    signing_key = staticmethod(load_trail_key)

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
