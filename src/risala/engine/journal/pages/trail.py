"""Pages of the audit trail, the newest first, whatever they are filtered by."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, replace
from typing import Final

from risala.engine.journal.pages.by_time import Walk, page_by_time
from risala.engine.journal.upkeep.audit_log import LINES, AuditLine
from risala.engine.model.records.paging import TIME_END, CursorPage, Place, Steps

FAMILY_END: Final = "."
"""An operation's name that ends so stands for all of its family: ``carriers.``."""


@dataclass(frozen=True, slots=True)
class TrailFilter:
    """Which lines a list is of; None: whichever."""

    organization_id: str | None = None
    action: str | None = None
    """An operation; or a family of them, by :data:`FAMILY_END`."""
    who: str | None = None
    face: str | None = None
    subject: str | None = None
    """The id of what was changed or looked at."""
    since: int | None = None
    until: int | None = None
    """At or after, and before: UTC epoch milliseconds."""

    def hit(self) -> tuple[str, tuple[object, ...]]:
        """The condition that a line on the way is wanted."""
        conditions: list[str] = []
        given: list[object] = []
        for column in ("organization_id", "who", "face", "subject"):
            value = getattr(self, column)
            if value is not None:
                conditions.append(f"{column} = ?")
                given.append(value)
        if self.action is not None and self.action.endswith(FAMILY_END):
            conditions.append("action >= ? AND action < ?")
            given += [self.action, f"{self.action[:-1]}{chr(ord(FAMILY_END) + 1)}"]
        elif self.action is not None:
            conditions.append("action = ?")
            given.append(self.action)
        if self.subject is not None:  # its lines are walked by their numbers
            conditions.append("at >= ? AND at < ?")
            given += [self.since or 0, TIME_END if self.until is None else self.until]
        return " AND ".join(conditions) or "1", tuple(given)

    def way(self) -> Walk:
        """The way by the index that leaves the fewest lines to look at."""
        hit, hit_given = self.hit()
        if self.subject is not None:
            source = "audit_log INDEXED BY audit_log_by_subject_seq"
            return Walk(source, "subject = ?", (self.subject,), hit, hit_given, ("seq",))
        index, where = "audit_log_by_time", "1"
        given: tuple[object, ...] = ()
        if self.action is not None and not self.action.endswith(FAMILY_END):
            index, where, given = "audit_log_by_action_time", "action = ?", (self.action,)
        elif self.organization_id is not None:
            index, where = "audit_log_by_organization_time", "organization_id = ?"
            given = (self.organization_id,)
        return Walk(
            f"audit_log INDEXED BY {index}",
            where,
            given,
            hit,
            hit_given,
            ("at", "seq"),
            since=self.since or 0,
            until=TIME_END if self.until is None else self.until,
        )


def page(conn: sqlite3.Connection, wanted: TrailFilter, steps: Steps) -> CursorPage[AuditLine]:
    """One page of the lines that are wanted; places are times and numbers of lines."""
    way = wanted.way()
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
    """A place of lines that are walked by their numbers alone, in the form of all others."""
    return None if place is None else (0, *place)
