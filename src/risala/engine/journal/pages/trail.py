"""Pages of the audit trail, the newest first, with any filter."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

from risala.engine.journal.store.audit_log import LINES
from risala.engine.journal.store.pages import Walk, page_by_time
from risala.engine.model.audit import FAMILY_END, TrailFilter
from risala.engine.model.records.paging import TIME_END, CursorPage, Place, Steps
from risala.engine.model.records.upkeep.trail import AuditLine


def _hit(wanted: TrailFilter) -> tuple[str, tuple[object, ...]]:
    """The condition for a wanted line."""
    conditions: list[str] = []
    given: list[object] = []
    for column in ("organization_id", "who", "face", "subject"):
        value = getattr(wanted, column)
        if value is not None:
            conditions.append(f"{column} = ?")
            given.append(value)
    if wanted.action is not None and wanted.action.endswith(FAMILY_END):
        conditions.append("action >= ? AND action < ?")
        given += [wanted.action, f"{wanted.action[:-1]}{chr(ord(FAMILY_END) + 1)}"]
    elif wanted.action is not None:
        conditions.append("action = ?")
        given.append(wanted.action)
    if wanted.subject is not None:  # its lines are read by their numbers
        conditions.append("at >= ? AND at < ?")
        given += [wanted.since or 0, TIME_END if wanted.until is None else wanted.until]
    return " AND ".join(conditions) or "1", tuple(given)


def _way(wanted: TrailFilter) -> Walk:
    """The index with the fewest lines to read."""
    hit, hit_given = _hit(wanted)
    if wanted.subject is not None:
        source = "audit_log INDEXED BY audit_log_by_subject_seq"
        return Walk(source, "subject = ?", (wanted.subject,), hit, hit_given, ("seq",))
    index, where = "audit_log_by_time", "1"
    given: tuple[object, ...] = ()
    if wanted.action is not None and not wanted.action.endswith(FAMILY_END):
        index, where, given = "audit_log_by_action_time", "action = ?", (wanted.action,)
    elif wanted.organization_id is not None:
        index, where = "audit_log_by_organization_time", "organization_id = ?"
        given = (wanted.organization_id,)
    return Walk(
        f"audit_log INDEXED BY {index}",
        where,
        given,
        hit,
        hit_given,
        ("at", "seq"),
        since=wanted.since or 0,
        until=TIME_END if wanted.until is None else wanted.until,
    )


def page(conn: sqlite3.Connection, wanted: TrailFilter, steps: Steps) -> CursorPage[AuditLine]:
    """One page of the wanted lines; places are times and numbers of lines."""
    way = _way(wanted)
    if way.order == ("seq",):
        before, after = (None if each is None else each[1:] for each in (steps.before, steps.after))
        steps = replace(steps, before=before, after=after)
        found = page_by_time(conn, LINES, way, steps, _number_of)
        return replace(found, newer=_timed(found.newer), older=_timed(found.older))
    return page_by_time(conn, LINES, way, steps, place_of)


def place_of(line: AuditLine) -> Place:
    return (line.at, line.seq)


def _number_of(line: AuditLine) -> Place:
    return (line.seq,)


def _timed(place: Place | None) -> Place | None:
    """A place of lines that are read by their numbers alone, in the common form."""
    return None if place is None else (0, *place)
