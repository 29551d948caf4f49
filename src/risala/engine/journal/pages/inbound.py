"""Pages of what came in, and of who has opted out, the latest first."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

from risala.engine.journal.pages.stretch import Walk, stretch
from risala.engine.journal.store.named import Rows
from risala.engine.model.ids import first_id
from risala.engine.model.records.paging import CursorPage, Steps


@dataclass(frozen=True, slots=True)
class Received:
    """A message that came in."""

    id: str
    organization_id: str | None
    carrier: str
    sender: str
    recipient: str | None
    body: str | None
    """None: it is not shown to whoever asks."""
    received_at: int


@dataclass(frozen=True, slots=True)
class OptOut:
    """A number that wants no messages of an organization."""

    recipient: str
    carrier: str
    """Through which it said so; empty: somebody noted it by hand."""
    at: int
    who: str | None
    """Who noted it; None: the number itself, by the keyword, or a user who was deleted since."""
    keyword: str | None


NOTED_MS: Final = 3_600_000
"""So much later than a message came its row may have been made, where the disk took none."""
_ID: Final = ("id",)
_RECEIVED: Final = Rows(Received)
_OPT_OUTS: Final = Rows(OptOut)


@dataclass(frozen=True, slots=True)
class ReceivedFilter:
    """Which messages a list is of; None: whichever."""

    organization_id: str | None = None
    sender: str | None = None
    recipient: str | None = None
    """The number of ours that they came to."""
    since: int | None = None
    until: int | None = None
    """Received at or after, and before: UTC epoch milliseconds."""

    def hit(self) -> tuple[str, tuple[object, ...]]:
        """The condition that a message is wanted, beside those that an index is read by."""
        wanted = {
            "recipient = ?": self.recipient,
            "received_at >= ?": self.since,
            "received_at < ?": self.until,
        }
        given = {term: value for term, value in wanted.items() if value is not None}
        return " AND ".join(given) or "1", tuple(given.values())

    @property
    def ids(self) -> tuple[str | None, str | None]:
        """Between these are the ids of what was received then: an id is made after that."""
        since = None if self.since is None else first_id("mo", max(0, self.since))
        until = None if self.until is None else first_id("mo", max(0, self.until + NOTED_MS))
        return since, until


def received(
    conn: sqlite3.Connection, wanted: ReceivedFilter, steps: Steps
) -> CursorPage[Received]:
    """Messages that came in, of one organization or of all, from one number or from any."""
    hit, given = wanted.hit()
    organization_id, sender = wanted.organization_id, wanted.sender
    if sender is not None:
        if organization_id is not None:
            hit, given = f"{hit} AND organization_id = ?", (*given, organization_id)
        source, where, mine = "inbound INDEXED BY inbound_by_sender", "sender = ?", sender
    elif organization_id is not None:
        source, where = "inbound INDEXED BY inbound_by_organization", "organization_id = ?"
        mine = organization_id
    else:
        # The least id of a time is never drawn: after it means from it on.
        source, where, mine = "inbound", "id > ?", wanted.ids[0] or ""
    walk = Walk(source, where, (mine,), hit, given, _ID, ids=wanted.ids)
    return stretch(conn, _RECEIVED, walk, steps, lambda one: (one.id,))


def opted_out(
    conn: sqlite3.Connection, organization_id: str, recipient: str | None, steps: Steps
) -> CursorPage[OptOut]:
    """Numbers that want no messages of an organization; or whether one of them is one number."""
    where, mine, order = "organization_id = ?", (organization_id,), ("at", "recipient")
    if recipient is None:
        walk = Walk("opt_outs INDEXED BY opt_outs_by_organization", where, mine, "1", (), order)
    else:
        one = (*mine, recipient)
        walk = Walk("opt_outs", f"{where} AND recipient = ?", one, "1", (), order)
    return stretch(conn, _OPT_OUTS, walk, steps, lambda one: (one.at, one.recipient))
