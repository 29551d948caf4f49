"""What is stored of conversations: their state, who answers, and how far they were read.

A conversation is made by the first text of a number to an organization, and goes with the last one.
Only live messages are answered: texts come from carriers, and tests have none.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.conversations.stored import threads
from risala.engine.features.lists.stored import containing_cell
from risala.engine.journal.inbound import opt_outs
from risala.engine.journal.messages.messages import Around
from risala.engine.journal.people import members
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.pages import AccountPart, Walk, page_by_time, page_of_walks
from risala.engine.journal.store.repository import Store, audited_command, read, scan
from risala.engine.journal.store.searching import NumberIndex, containing, numbers_with
from risala.engine.journal.store.tables import table
from risala.engine.journal.store.transaction import Unit
from risala.engine.journal.webhooks import outbox
from risala.engine.model.errors import Invalid, NotFound
from risala.engine.model.events import ConversationEvent, EventType
from risala.engine.model.feature_work import Forgot, RetentionWalk
from risala.engine.model.ids import derived_id, first_id
from risala.engine.model.records.asks import CursorPage, NumberPart, Steps
from risala.engine.model.records.conversations import (
    ConversationState,
    StoredConversation,
)
from risala.engine.model.records.messages import Acceptance, Stamp
from risala.engine.model.records.record import to_json
from risala.sms.message import Inbound


@dataclass(frozen=True, slots=True)
class ConversationFilter:
    """Which conversations are in a list; None: any."""

    organization_id: str
    state: str | None = None
    unread: bool | None = None
    assigned_to: str | None = None
    """A user's id; empty: of nobody."""
    number: str | None = None
    part: NumberPart | None = None
    """Digits of the number."""
    contains: str | None = None
    """Words of a text or of the person's name."""
    opted_out: bool | None = None
    """Whether the person wants no messages any more."""
    searches_texts: bool = True
    """False: only names are searched, because the caller sees no texts."""


SEARCHED_MAX: Final = 200
"""Conversations in which one page searches by texts: the next one goes on."""
TEXTS_SEARCHED: Final = 30
"""The newest messages of each way that are searched in one of them."""
_TABLE: Final = "conversations"
_MISSING: Final = "There is no such conversation."
_UNREAD: Final = "read_to < last_text"
_ASSIGNED: Final = (
    "(SELECT m.user_id FROM members m WHERE m.organization_id = conversations.organization_id"
    " AND m.user_id = conversations.assigned_to)"
)
"""The member who answers: who is none any more leaves it to the others."""
_ROWS: Final = Rows.of_record(
    StoredConversation,
    {
        "assigned_to": _ASSIGNED,
        "unread": _UNREAD,
        "received_at": "coalesce((SELECT received_at FROM inbound t WHERE t.id = last_text), 0)",
    },
)


def find(conn: sqlite3.Connection, conversation_id: str) -> StoredConversation:
    """One by its id.

    Raises:
        NotFound: the id is unknown.
    """
    return _ROWS.one(table(conn, _TABLE), conversation_id, _MISSING)


def with_number(conn: sqlite3.Connection, organization_id: str, number: str) -> StoredConversation:
    """An organization's conversation with a number.

    Raises:
        NotFound: the number has not written to it.
    """
    whose = "organization_id = ? AND number = ?"
    rows = _ROWS.find(table(conn, _TABLE), whose, (organization_id, number))
    if not rows:
        raise NotFound(_MISSING)
    return rows[0]


def note_text(
    conn: sqlite3.Connection, organization_id: str, text_id: str, text: Inbound, stamp: Stamp
) -> None:
    """A text came in: its conversation begins, or is open again; it is an event. A number that
    wants no messages any more needs no answer."""
    is_stop = opt_outs.says_stop(conn, organization_id, text.sender, text.text)
    state = ConversationState.DONE if is_stop else ConversationState.OPEN
    is_out = opt_outs.is_out(conn, organization_id, text.sender)
    conversation_id = derived_id("cnv", stamp.now_ms, organization_id, text.sender)
    conn.execute(
        "INSERT INTO conversations"
        " (id, organization_id, number, last_text, read_to, state, opted_out)"
        " VALUES (?, ?, ?, ?, '', ?, ?) ON CONFLICT (organization_id, number) DO UPDATE"
        " SET last_text = max(last_text, excluded.last_text), state = excluded.state",
        (*(conversation_id, organization_id, text.sender, text_id, state.value), is_out),
    )
    stored = with_number(conn, organization_id, text.sender)
    _tell(conn, stored, EventType.CONVERSATION_RECEIVED, text_id, stamp.now_ms)


def _tell(
    conn: sqlite3.Connection,
    one: StoredConversation,
    kind: EventType,
    text_id: str | None,
    now_ms: int,
) -> None:
    whose = (one.organization_id, "live", one.id)
    event = ConversationEvent(kind, now_ms, *whose, one.number, text_id, one.assigned_to)
    outbox.write(conn, event)


def tell(
    conn: sqlite3.Connection,
    organization_id: str,
    number: str,
    kind: EventType,
    text_id: str,
    now_ms: int,
) -> None:
    """Write an event of the conversation with a number; none where it is gone."""
    with suppress(NotFound):
        _tell(conn, with_number(conn, organization_id, number), kind, text_id, now_ms)


def mark(
    conn: sqlite3.Connection,
    conversation_id: str,
    now_ms: int,
    *,
    state: str | None,
    is_read: bool | None,
    assigned_to: str | None,
) -> StoredConversation:
    """Change a conversation's state, how far it was read, or who answers; None: unchanged.

    Args:
        is_read: False: nothing of it was read.
        assigned_to: a user's id; empty: nobody in particular.

    Raises:
        NotFound: the id is unknown.
        Invalid: the user is no member.
    """
    before = find(conn, conversation_id)
    if assigned_to and members.find(conn, before.organization_id, assigned_to) is None:
        raise Invalid("assigned_to", "no_member", "`assigned_to` is no member's id.")
    whom = before.assigned_to if assigned_to is None else assigned_to or None
    if (state or before.state, whom) != (before.state, before.assigned_to):
        conn.execute(
            "UPDATE conversations SET state = ?, assigned_to = ? WHERE id = ?",
            (state or before.state, whom, conversation_id),
        )
    if is_read is not None and is_read is before.unread:
        _read_to(conn, conversation_id, before.last_text if is_read else "")
    after = find(conn, conversation_id)
    if whom is not None and whom != before.assigned_to:
        _tell(conn, after, EventType.CONVERSATION_ASSIGNED, None, now_ms)
    return after


def _read_to(conn: sqlite3.Connection, conversation_id: str, text_id: str) -> None:
    conn.execute("UPDATE conversations SET read_to = ? WHERE id = ?", (text_id, conversation_id))


def _answering(
    one: StoredConversation, seen: int | None, unit: Unit[Acceptance]
) -> Unit[Acceptance]:
    def accept(conn: sqlite3.Connection) -> Acceptance:
        if seen is not None:
            threads.refuse_newer(conn, one, seen)
        accepted = unit(conn)
        if accepted.id is not None:  # else its key was known: it was answered then
            conn.execute(
                "UPDATE conversations SET read_to = max(read_to, ?) WHERE id = ?",
                (one.last_text, one.id),
            )
        return accepted

    return accept


# -- pages, the newest texts first


def _hit(filters: ConversationFilter) -> tuple[str, tuple[object, ...]]:
    """The condition for a wanted conversation, in addition to those of the index."""
    hits, values = ["1"], list[object]()
    if filters.state is not None:
        hits.append("state = ?")
        values.append(filters.state)
    if filters.unread is not None:
        hits.append(_UNREAD if filters.unread else f"NOT {_UNREAD}")
    if filters.assigned_to is not None:
        hits.append(f"coalesce({_ASSIGNED}, '') = ?")
        values.append(filters.assigned_to)
    if filters.opted_out is not None:
        hits.append("opted_out = ?")
        values.append(int(filters.opted_out))
    if filters.contains is not None:
        hit, patterns = _containing(filters.contains, in_texts=filters.searches_texts)
        hits.append(hit)
        values += patterns
    return " AND ".join(hits), tuple(values)


def _containing(text: str, *, in_texts: bool) -> tuple[str, list[object]]:
    """The condition that the person's row in a list, the number as a name, or a text contains
    this."""
    own, of_own = containing(("conversations.number",), text)
    cell, of_cell = containing_cell("conversations.number", "conversations.organization_id", text)
    hits = [own, cell]
    values: list[object] = [*of_own, *of_cell]
    if in_texts:
        body, of_body = containing(("body",), text)
        hits.append(
            "EXISTS (SELECT 1 FROM (SELECT body, organization_id FROM inbound"  # noqa: S608 -- constants
            " INDEXED BY inbound_by_sender WHERE sender = conversations.number"
            f" ORDER BY id DESC LIMIT {TEXTS_SEARCHED}) t"
            f" WHERE t.organization_id = conversations.organization_id AND {body})"
        )
        hits.append(
            "EXISTS (SELECT 1 FROM (SELECT body, pruned, kind, mode FROM message"  # noqa: S608 -- constants
            " INDEXED BY message_by_recipient WHERE recipient = CASE"
            " WHEN conversations.number GLOB '+[1-9]*'"
            " THEN CAST(substr(conversations.number, 2) AS INTEGER) END AND organization ="
            " (SELECT no FROM organizations WHERE id = conversations.organization_id)"
            f" ORDER BY key DESC LIMIT {TEXTS_SEARCHED})"
            f" WHERE pruned & 1 = 0 AND kind = 0 AND mode = 0 AND {body})"
        )
        values += [*of_body, *of_body]
    return f"({' OR '.join(hits)})", values


def _way(filters: ConversationFilter) -> Walk:
    """The index with the fewest conversations to read."""
    hit, of_hit = _hit(filters)
    where, values = "organization_id = ?", list[object]([filters.organization_id])
    index = "conversations_by_organization"
    if filters.number is not None:
        return Walk(
            "conversations", where + " AND number = ?", (*values, filters.number), hit, of_hit, _BY
        )
    if filters.unread:
        index, where = "conversations_unread", f"{where} AND {_UNREAD}"
    elif filters.assigned_to:
        index, where = "conversations_assigned", f"{where} AND assigned_to = ?"
        values.append(filters.assigned_to)
    elif filters.opted_out is not None:
        index, where = "conversations_opted_out", f"{where} AND opted_out = ?"
        values.append(int(filters.opted_out))
    elif filters.state is not None:
        index, where = "conversations_by_state", f"{where} AND state = ?"
        values.append(filters.state)
    return Walk(f"conversations INDEXED BY {index}", where, tuple(values), hit, of_hit, _BY)


_BY: Final = ("last_text",)


def page(
    conn: sqlite3.Connection, filters: ConversationFilter, steps: Steps
) -> CursorPage[StoredConversation]:
    """Conversations of an organization.

    Raises:
        TooManyNumbersError: too many numbers have the digits.
    """
    if filters.contains is not None:
        steps = Steps(steps.limit, steps.before, steps.after, SEARCHED_MAX)
    if filters.part is None:
        return page_by_time(conn, _ROWS, _way(filters), steps, lambda one: (one.last_text,))
    index = NumberIndex(_TABLE, "number", "organization_id = ?", (filters.organization_id,))
    ways = [
        _way(replace(filters, number=each, part=None))
        for each in numbers_with(conn, index, filters.part)
    ]
    return page_of_walks(conn, _ROWS, ways, steps, lambda one: (one.last_text,))


def count_unread(conn: sqlite3.Connection, organization_id: str, most: int) -> int:
    """How many conversations have a text that nobody has read, and not more than ``most``."""
    rows = conn.execute(
        "SELECT 1 FROM conversations INDEXED BY conversations_unread"  # noqa: S608 -- a constant
        f" WHERE organization_id = ? AND {_UNREAD} LIMIT ?",
        (organization_id, most),
    )
    return len(rows.fetchall())


# -- what else there is to do with all tables


def export(conn: sqlite3.Connection, organization_id: str, after: str, limit: int) -> AccountPart:
    """Conversations for an owner's file."""
    whose = (organization_id, after)
    rows = _ROWS.find(
        table(conn, _TABLE),
        "organization_id = ? AND number > ?",
        whose,
        order_by="number",
        limit=limit,
    )
    last = rows[-1].number if len(rows) == limit else None
    return AccountPart([to_json(each) for each in rows], last)


def walk_old(conn: sqlite3.Connection, walk: RetentionWalk, before_ms: int, limit: int) -> Forgot:
    """Delete conversations whose newest text is old: it goes, or is gone."""
    mine, values = "", list[object]()
    if walk.organizations:
        mine, values = "organization_id = ? AND ", [walk.organizations[0]]
    gone = conn.execute(
        "DELETE FROM conversations WHERE id IN (SELECT id FROM conversations"  # noqa: S608 -- constants
        f" WHERE {mine}last_text < ? ORDER BY last_text LIMIT ?)",
        (*values, first_id("mo", max(0, before_ms)), limit),
    ).rowcount
    return Forgot(gone, "", gone < limit)


def erase(
    conn: sqlite3.Connection, organization_id: str, number: str, _limit: int
) -> dict[str, int]:
    """Delete the conversation with a number that is erased, once its texts are gone. If the number
    has written since, that text's conversation stays."""
    gone = conn.execute(
        "DELETE FROM conversations WHERE organization_id = ?1 AND number = ?2 AND NOT EXISTS"
        " (SELECT 1 FROM inbound WHERE sender = ?2 AND organization_id = ?1)",
        (organization_id, number),
    ).rowcount
    return {"conversations": gone}


def clear(conn: sqlite3.Connection, limit: int, organization_id: str | None) -> Forgot:
    """Delete the conversations of an organization that is deleted; None: there are none."""
    gone = conn.execute(
        "DELETE FROM conversations WHERE id IN"
        " (SELECT id FROM conversations WHERE organization_id = ? LIMIT ?)",
        (organization_id, limit),
    ).rowcount
    return Forgot(gone, "", gone < limit)


@dataclass(frozen=True, slots=True)
class ConversationRepository:
    """Conversations. Those of an id or a number, and pages without a search, are read by an index
    on the loop's thread; searches and messages on a thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    @staticmethod
    def answering(one: StoredConversation, seen: int | None) -> Around:
        """What makes the unit that accepts an answer also note that the texts before it are read.

        Args:
            seen: the place of the newest message that its writer has read: the unit then raises
                ``Conflict`` if there is a newer one. None: it does not matter.
        """
        return partial(_answering, one, seen)

    _store: Store

    find = read(find)
    with_number = read(with_number)
    page = scan(page)
    count_unread = read(count_unread)
    thread = scan(threads.noted_page)
    summaries = scan(threads.summaries)
    last_way = read(threads.last_way)
    known = scan(threads.known)
    mark = audited_command(mark)
