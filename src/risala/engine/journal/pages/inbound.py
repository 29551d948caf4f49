"""Pages of incoming messages and of opt-outs, the latest first."""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal.pages.by_time import Walk, page_by_time
from risala.engine.journal.store.named import Rows, text_or_none
from risala.engine.model.ids import first_id
from risala.engine.model.records.inbound import OptOut, Received, ReceivedFilter
from risala.engine.model.records.paging import CursorPage, Steps

NOTED_MS: Final = 3_600_000
"""How much later than a message its row may have been made, if the disk failed meanwhile."""
_ID: Final = ("id",)
_RECEIVED: Final = Rows(Received)
_OPT_OUTS: Final = Rows(OptOut, {"number": "recipient"}, carrier=text_or_none)


def _hit(wanted: ReceivedFilter) -> tuple[str, tuple[object, ...]]:
    """The condition for a wanted message, in addition to those of the index."""
    terms = {
        "recipient = ?": wanted.recipient,
        "received_at >= ?": wanted.since,
        "received_at < ?": wanted.until,
    }
    given = {term: value for term, value in terms.items() if value is not None}
    return " AND ".join(given) or "1", tuple(given.values())


def _ids(wanted: ReceivedFilter) -> tuple[str | None, str | None]:
    """The ids of messages received then are between these: an id is made after that."""
    since = None if wanted.since is None else first_id("mo", max(0, wanted.since))
    until = None if wanted.until is None else first_id("mo", max(0, wanted.until + NOTED_MS))
    return since, until


def received(
    conn: sqlite3.Connection, wanted: ReceivedFilter, steps: Steps
) -> CursorPage[Received]:
    """Received messages, of one organization or of all, from one number or from any."""
    (hit, given), ids = _hit(wanted), _ids(wanted)
    organization_id, sender = wanted.organization_id, wanted.sender
    if sender is not None:
        if organization_id is not None:
            hit, given = f"{hit} AND organization_id = ?", (*given, organization_id)
        source, where, mine = "inbound INDEXED BY inbound_by_sender", "sender = ?", sender
    elif organization_id is not None:
        source, where = "inbound INDEXED BY inbound_by_organization", "organization_id = ?"
        mine = organization_id
    else:
        # The least id of a time is never used: "after" it means from it on.
        source, where, mine = "inbound", "id > ?", ids[0] or ""
    walk = Walk(source, where, (mine,), hit, given, _ID, ids=ids)
    return page_by_time(conn, _RECEIVED, walk, steps, lambda one: (one.id,))


def opted_out(
    conn: sqlite3.Connection, organization_id: str, recipient: str | None, steps: Steps
) -> CursorPage[OptOut]:
    """Numbers that want no messages of an organization; or whether one number is among them."""
    where, mine, order = "organization_id = ?", (organization_id,), ("at", "recipient")
    if recipient is None:
        walk = Walk("opt_outs INDEXED BY opt_outs_by_organization", where, mine, "1", (), order)
    else:
        one = (*mine, recipient)
        walk = Walk("opt_outs", f"{where} AND recipient = ?", one, "1", (), order)
    return page_by_time(conn, _OPT_OUTS, walk, steps, lambda one: (one.at, one.number))
