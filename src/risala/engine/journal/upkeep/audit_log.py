"""The audit trail: what was done by hand, written in the transaction that does it.

No secrets, no codes, no bodies and no whole phone numbers: who hands in what a line says has left
them out (:mod:`risala.engine.operations.audit_images`). Lines are kept as long as the ledger.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.tables import table, writable
from risala.engine.journal.store.transaction import Unit
from risala.engine.model.callers import Caller
from risala.engine.model.errors import EditConflict

T = TypeVar("T")
Values = Mapping[str, Any]
TABLE: Final = "audit_log"
_SEQ_MAX: Final = (1 << 63) - 1
"""SQLite's largest: before it is every line."""


@dataclass(frozen=True, slots=True)
class Seen:
    """How a thing stands at one moment, without what nobody may read in the trail."""

    organization_id: str | None
    values: Values


Look = Callable[[sqlite3.Connection, str], Seen | None]
"""Looks at the thing of an id; None: it is not there."""


@dataclass(frozen=True, slots=True)
class AuditLine:
    seq: int
    at: int
    who: str
    face: str
    role: str
    action: str
    organization_id: str | None
    subject: str | None
    before: Values | None
    after: Values | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """What the audit trail is to hold of one operation, as
    :class:`risala.engine.journal.store.signature.Signature` asks for it.

    The thing is looked at before and after the unit, in its own transaction.
    """

    caller: Caller
    action: str
    at: int
    """UTC epoch milliseconds."""
    subject: str | None = None
    """The thing's id; None: the unit makes it, and its answer has it as ``id``."""
    look: Look | None = None
    organization_id: str | None = None
    """Where there is nothing to look at, or it does not say."""
    said: Values = field(default_factory=dict)
    """What else the trail should know: a reason, an amount."""
    always: bool = False
    """Also where the unit itself writes nothing: what it stands for is done elsewhere."""
    version: int | None = None
    """Of the thing, as who edits it has seen it: :func:`version_of`; None: they don't say."""

    def under(self, unit: Unit[T], /) -> Unit[T]:
        def signed(conn: sqlite3.Connection) -> T:
            self._refuse_changed(conn)
            before = self._image(conn, self.subject)
            changes = conn.total_changes
            answer = unit(conn)
            if self.always or conn.total_changes != changes:
                subject = self.subject or getattr(answer, "id", None)
                self._write(conn, subject, before, self._image(conn, subject))
            return answer

        return signed

    def _refuse_changed(self, conn: sqlite3.Connection) -> None:
        if self.version is None or self.subject is None:
            return
        last = _last(conn, self.subject, family_of(self.action), self.organization_id)
        if last is not None and last.seq > self.version:
            raise EditConflict(last.who)

    def _image(self, conn: sqlite3.Connection, subject: str | None) -> Seen | None:
        if self.look is None or subject is None:
            return None
        return self.look(conn, subject)

    def _write(
        self, conn: sqlite3.Connection, subject: str | None, before: Seen | None, after: Seen | None
    ) -> None:
        seen = after or before
        organization_id = self.organization_id or (seen and seen.organization_id)
        then = {**(after.values if after else {}), **self.said}
        writable(conn, TABLE).insert(
            {
                "at": self.at,
                "who": self.caller.who,
                "face": self.caller.face.value,
                "role": self.caller.role.value,
                "action": self.action,
                "organization_id": organization_id,
                "subject": subject,
                "before": _packed(before.values if before else None),
                "after": _packed(then or None),
            }
        )


def write(conn: sqlite3.Connection, hand: AuditEntry) -> int:
    """Write a line in the middle of a unit that knows only then whether there is one to write; its
    number."""
    hand.under(_nothing)(conn)
    return lines(conn, 1)[0].seq


def _nothing(_: sqlite3.Connection) -> None:
    """What the line stands for is done by the unit around it."""


def family_of(action: str) -> str:
    """What an action is about: ``member`` of ``member.remove``."""
    return action.partition(".")[0]


def version_of(
    conn: sqlite3.Connection, subject: str, family: str, organization_id: str | None = None
) -> int:
    """The number of the last line about a thing; 0: there is none.

    An edit hands it back, so that nobody undoes unawares what somebody else did meanwhile. Only
    what is done by hand counts: a charge is no edit of an organization.
    """
    last = _last(conn, subject, family, organization_id)
    return 0 if last is None else last.seq


def _last(
    conn: sqlite3.Connection, subject: str, family: str, organization_id: str | None
) -> AuditLine | None:
    given: dict[str, Any] = {"subject": subject, "first": f"{family}.", "end": f"{family}/"}
    where = (
        "subject = :subject AND action >= :first AND action < :end"
        " AND coalesce(before, after) IS NOT NULL"  # else it was a look
    )
    if organization_id is not None:
        where += " AND organization_id = :organization_id"
        given["organization_id"] = organization_id
    found = LINES.find(table(conn, TABLE), where, given, order_by="seq DESC", limit=1)
    return found[0] if found else None


def lines(
    conn: sqlite3.Connection,
    count: int,
    *,
    before: int | None = None,
    organization_id: str | None = None,
    action: str | None = None,
    who: str | None = None,
) -> list[AuditLine]:
    """The newest first. ``before`` is the number of a line; the others leave out what differs."""
    wanted = {"organization_id": organization_id, "action": action, "who": who}
    given = {name: value for name, value in wanted.items() if value is not None}
    return LINES.find(
        table(conn, TABLE),
        " AND ".join(["seq < :seq", *(f"{name} = :{name}" for name in given)]),
        {"seq": _SEQ_MAX if before is None else max(0, min(before, _SEQ_MAX)), **given},
        order_by="seq DESC",
        limit=count,
    )


def line(conn: sqlite3.Connection, seq: int) -> AuditLine | None:
    """One line by its number."""
    found = LINES.find(table(conn, TABLE), "seq = ?", (min(seq, _SEQ_MAX),))
    return found[0] if found else None


def _packed(values: Values | None) -> str | None:
    return None if values is None else json.dumps(values, ensure_ascii=False, sort_keys=True)


def _unpacked(text: str | None) -> Values | None:
    return None if text is None else json.loads(text)


LINES: Final = Rows(AuditLine, before=_unpacked, after=_unpacked)
