"""The messages of conversations, read where they are: texts that came in, and messages that were
sent to the number.

Both are in the order of the first bits of their ids, which are times: a place in a conversation is
such a number, whichever of the two it is of.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from risala.dataclass import dataclass
from risala.engine.features.conversations.rules import answered_by, is_forward, text_id, writer_of
from risala.engine.features.lists.stored import lists_of_number, rows_of_numbers
from risala.engine.features.tables.rules.rendering import name_in
from risala.engine.journal.state import CREATED
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.names import name_sql
from risala.engine.model.commands import AnswerWay
from risala.engine.model.errors import Conflict
from risala.engine.model.feature_work import Duty
from risala.engine.model.features import duty
from risala.engine.model.ids import key_of
from risala.engine.model.numbers import KINDS, STATUSES, recipient_number, recipient_text
from risala.engine.model.records.conversations import (
    COSTS_ADDED,
    ON_LISTS_MAX,
    WENT_ON,
    AnswerNote,
    ConversationSummary,
    Known,
    OnList,
    StoredConversation,
    ThreadMessage,
    WrittenBy,
)
from risala.engine.model.records.message_lists import KEY_END

_WENT_ON: Final = (
    "The conversation has gone on since you read it. Read what is new, then send your answer again."
)
_PAID_BACK: Final = tuple(map(STATUSES.number, ("failed", "canceled")))
_NO: Final = "(SELECT no FROM organizations WHERE id = ?)"


@dataclass(frozen=True, slots=True)
class _Sent:
    key: int
    id: str
    kind: str
    at: int
    body: str | None
    status: str
    sender: str
    recipient: str
    carrier: str | None
    segments: int
    price: int
    error_code: str | None
    api_key: str | None
    client_key: str | None


_SENT: Final = Rows(
    _Sent,
    {
        "at": CREATED,
        # The text of a code is not shown, not even as its template.
        "body": "CASE WHEN pruned & 1 = 0 AND kind = 0 THEN body END",
        "sender": name_sql("sender"),
        "carrier": name_sql("carrier"),
        "api_key": name_sql("api_key"),
    },
    kind=KINDS.word,
    status=STATUSES.word,
    recipient=recipient_text,
)


@dataclass(frozen=True, slots=True)
class _Came:
    id: str
    received_at: int
    body: str
    sender: str
    recipient: str | None
    carrier: str


_CAME: Final = Rows(_Came)


class ThreadPage(NamedTuple):
    """A page of a conversation's messages, the oldest first, and where others begin."""

    messages: tuple[ThreadMessage, ...]
    newer: int | None
    older: int | None


def page(
    conn: sqlite3.Connection,
    one: StoredConversation,
    limit: int,
    before: int | None = None,
    after: int | None = None,
) -> ThreadPage:
    """The newest messages, or those older than the place ``before``, or newer than ``after``."""
    is_upward = after is not None
    low = 0 if after is None else after + 1
    high = KEY_END if before is None else before
    bounds = (low, high)
    both = [
        *_sent(conn, one, bounds, limit + 1, upward=is_upward),
        *_came(conn, one, bounds, limit + 1, upward=is_upward),
    ]
    both.sort(key=lambda each: each.place, reverse=not is_upward)
    more, shown = len(both) > limit, both[:limit]
    end = shown[-1].place if more else None
    if is_upward:
        older = shown[0].place if shown else low
        return ThreadPage(tuple(shown), end, older)
    newer = None if before is None else shown[0].place if shown else before - 1
    return ThreadPage(tuple(reversed(shown)), newer, end)


def noted_page(
    conn: sqlite3.Connection,
    one: StoredConversation,
    limit: int,
    before: int | None = None,
    after: int | None = None,
) -> ThreadPage:
    """:func:`page`, with what answered by itself, and why something was not."""
    shown = page(conn, one, limit, before, after)
    notes_of = duty(Duty.ANSWERS)
    texts = [text for each in shown.messages if (text := each.id if each.came_in else each.answers)]
    if notes_of is None or not texts:
        return shown
    notes = notes_of(conn, texts)
    return shown._replace(messages=tuple(_noted(each, notes) for each in shown.messages))


def _noted(message: ThreadMessage, notes: Mapping[str, AnswerNote]) -> ThreadMessage:
    note = notes.get(message.id if message.came_in else message.answers or "")
    if note is None:
        return message
    refused = note.refused if message.came_in else None
    forwards = note.forwards if message.came_in else ()
    return replace(
        message,
        answer_kind=note.kind,
        answer_name=note.name,
        answer_refused=refused,
        forwards=forwards,
    )


def _sent(
    conn: sqlite3.Connection,
    one: StoredConversation,
    bounds: tuple[int, int],
    limit: int,
    *,
    upward: bool,
) -> list[ThreadMessage]:
    rows = conn.execute(
        f"SELECT {_SENT.columns} FROM message INDEXED BY message_by_recipient"  # noqa: S608 -- constants
        f" WHERE recipient = ? AND organization = {_NO} AND key >= ? AND key < ? AND mode = 0"
        f" ORDER BY key {'ASC' if upward else 'DESC'} LIMIT ?",
        (recipient_number(one.number), one.organization_id, *bounds, limit),
    )
    return [_of_sent(_SENT.of(row)) for row in rows]


def _of_sent(sent: _Sent) -> ThreadMessage:
    by, mailing_id = writer_of(sent.kind, sent.api_key, sent.client_key)
    return ThreadMessage(
        *(sent.id, by, sent.at, sent.body, sent.status, sent.sender, sent.recipient),
        *(sent.carrier, sent.segments, sent.price, sent.error_code, sent.api_key, mailing_id),
        answer_kind="forward" if by is WrittenBy.ANSWER and is_forward(sent.client_key) else None,
        answers=None if sent.api_key else answered_by(sent.client_key),
        place=sent.key,
    )


def _came(
    conn: sqlite3.Connection,
    one: StoredConversation,
    bounds: tuple[int, int],
    limit: int,
    *,
    upward: bool,
) -> list[ThreadMessage]:
    low, high = bounds
    rows = conn.execute(
        f"SELECT {_CAME.columns} FROM inbound INDEXED BY inbound_by_sender"  # noqa: S608 -- constants
        " WHERE sender = ? AND id >= ? AND id < ? AND organization_id = ?"
        f" ORDER BY id {'ASC' if upward else 'DESC'} LIMIT ?",
        (one.number, text_id(low), text_id(high), one.organization_id, limit),
    )
    return [_of_came(_CAME.of(row)) for row in rows]


def _of_came(text: _Came) -> ThreadMessage:
    return ThreadMessage(
        *(text.id, WrittenBy.NUMBER, text.received_at, text.body, "received"),
        *(text.sender, text.recipient, text.carrier),
        segments=None,
        price=None,
        error_code=None,
        key_id=None,
        mailing_id=None,
        place=key_of(text.id) or 0,
    )


def summaries(
    conn: sqlite3.Connection, conversations: Sequence[StoredConversation]
) -> tuple[ConversationSummary, ...]:
    """Conversations of one organization with the person's name and the last message."""
    names = _names(conn, conversations)
    return tuple(
        ConversationSummary(
            *(each.id, each.organization_id, each.number, each.state, each.unread),
            *(each.assigned_to, each.received_at, each.last_text),
            name=names.get(each.number),
            last=next(iter(page(conn, each, 1).messages), None),
        )
        for each in conversations
    )


def _names(conn: sqlite3.Connection, conversations: Sequence[StoredConversation]) -> dict[str, str]:
    """The names of persons by their numbers: as the list says that was changed last."""
    if not conversations:
        return {}
    numbers = [each.number for each in conversations]
    rows = rows_of_numbers(conn, conversations[0].organization_id, numbers)
    names = ((row.number, name_in(row.columns, row.cells)) for row in rows)
    return {number: name for number, name in names if name is not None}


def known(conn: sqlite3.Connection, one: StoredConversation) -> Known:
    """What the organization's lists and prices tell of the person."""
    organization_id, number = one.organization_id, one.number
    (cost,) = conn.execute(
        "SELECT coalesce(sum(price), 0) FROM (SELECT price, status, charge FROM message"  # noqa: S608 -- constants
        f" INDEXED BY message_by_recipient WHERE recipient = ? AND organization = {_NO}"
        " AND mode = 0 ORDER BY key DESC LIMIT ?)"
        " WHERE charge IS NOT NULL AND status NOT IN (?, ?)",
        (recipient_number(number), organization_id, COSTS_ADDED, *_PAID_BACK),
    ).fetchone()
    lists = lists_of_number(conn, organization_id, number, ON_LISTS_MAX)
    return Known(tuple(OnList(*each) for each in lists), cost)


def last_way(conn: sqlite3.Connection, one: StoredConversation) -> AnswerWay | None:
    """How the newest text came in; None: it is no longer kept."""
    row = conn.execute(
        "SELECT carrier, recipient FROM inbound WHERE id = ?", (one.last_text,)
    ).fetchone()
    return None if row is None else AnswerWay(*row)


def refuse_newer(conn: sqlite3.Connection, one: StoredConversation, seen: int) -> None:
    """Refuse an answer that does not take the newest message into account; codes aside.

    Args:
        seen: the place of the newest message that its writer has read.

    Raises:
        Conflict: there is a newer one.
    """
    newer = page(conn, one, SEEN_LOOKED, after=seen).messages
    if any(each.by is not WrittenBy.CODE for each in newer):
        raise Conflict(_WENT_ON, WENT_ON)


SEEN_LOOKED: Final = 20
"""Newer messages that are looked at: codes among them are no answer."""
