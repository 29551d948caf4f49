"""Pages of incoming messages and of opt-outs, the latest first."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from typing import Final

from risala.engine.journal.store.named import Rows, text_or_none
from risala.engine.journal.store.pages import Walk, page_by_time, page_of_walks
from risala.engine.journal.store.searching import NumberIndex, containing, numbers_with
from risala.engine.model.ids import first_id
from risala.engine.model.records.inbound import OptOut, OptOutFilter, Received, ReceivedFilter
from risala.engine.model.records.paging import CursorPage, Steps

NOTED_MS: Final = 3_600_000
"""How much later than a message its row may have been made, if the disk failed meanwhile."""
_ID: Final = ("id",)
_IN_LIST: Final = " (SELECT value FROM json_each(?))"
_RECEIVED: Final = Rows(Received)
_OPT_OUTS: Final = Rows(OptOut, {"number": "recipient"}, carrier=text_or_none)


def _hit(wanted: ReceivedFilter) -> tuple[str, tuple[object, ...]]:
    """The condition for a wanted message, in addition to those of the index."""
    terms = {
        "recipient = ?": wanted.recipient,
        "received_at >= ?": wanted.since,
        "received_at < ?": wanted.until,
    }
    kept = {term: value for term, value in terms.items() if value is not None}
    hits, given = [*kept], [*kept.values()]
    if wanted.contains is not None:
        hit, patterns = containing(
            ("sender", "body") if wanted.searches_texts else ("sender",), wanted.contains
        )
        hits.append(hit)
        given += patterns
    return " AND ".join(hits) or "1", tuple(given)


def _ids(wanted: ReceivedFilter) -> tuple[str | None, str | None]:
    """The ids of messages received then are between these: an id is made after that."""
    since = None if wanted.since is None else first_id("mo", max(0, wanted.since))
    until = None if wanted.until is None else first_id("mo", max(0, wanted.until + NOTED_MS))
    return since, until


def received(
    conn: sqlite3.Connection, wanted: ReceivedFilter, steps: Steps
) -> CursorPage[Received]:
    """Received messages, of one organization or of all, from one number or from any.

    Raises:
        TooManyNumbersError: too many numbers have the digits.
    """
    if wanted.part is not None and wanted.organization_id is not None:
        source, mine = "inbound INDEXED BY inbound_by_writer", (wanted.organization_id,)
        index = NumberIndex(source, "sender", "organization_id = ?", mine)
        numbers = numbers_with(conn, index, wanted.part)
        ways = [_way(replace(wanted, sender=each)) for each in numbers]
        return page_of_walks(conn, _RECEIVED, ways, steps, lambda one: (one.id,))
    return page_by_time(conn, _RECEIVED, _way(wanted), steps, lambda one: (one.id,))


def _way(wanted: ReceivedFilter) -> Walk:
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
    return Walk(source, where, (mine,), hit, given, _ID, ids=ids)


def opted_out(
    conn: sqlite3.Connection, organization_id: str, wanted: OptOutFilter, steps: Steps
) -> CursorPage[OptOut]:
    """Numbers that want no messages of an organization.

    Raises:
        TooManyNumbersError: too many numbers have the digits.
    """
    where, mine = "organization_id = ?", tuple[object, ...]((organization_id,))
    numbers = None if wanted.number is None else [wanted.number]
    if wanted.part is not None:
        numbers = numbers_with(conn, NumberIndex("opt_outs", "recipient", where, mine), wanted.part)
    hit, given = "1", tuple[object, ...]()
    if wanted.contains is not None:
        hit, given = containing(("keyword", "who"), wanted.contains)
    source = "opt_outs INDEXED BY opt_outs_by_organization"
    if numbers is not None:
        # A number stands here once: no number has more rows than others.
        source, where = "opt_outs", "organization_id = ? AND recipient IN" + _IN_LIST
        mine = (organization_id, json.dumps(numbers))
    walk = Walk(source, where, mine, hit, given, ("at", "recipient"))
    return page_by_time(conn, _OPT_OUTS, walk, steps, lambda one: (one.at, one.number))
