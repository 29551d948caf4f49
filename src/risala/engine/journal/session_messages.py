"""The messages with a session's code: one, unless a feature of the session brings the code by
several. Of a session that names no feature, none is asked."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from risala.engine.journal.state import MessageState, load
from risala.engine.journal.store.sql import value_of
from risala.engine.model.features import Feature, features
from risala.engine.model.states import Status
from risala.engine.rules.verification import VerificationRow

_LEFT = (Status.PROCESSING, Status.SENT)


def messages_of(conn: sqlite3.Connection, row: VerificationRow) -> list[MessageState]:
    """All messages with a session's code, the first one first."""
    ids = dict.fromkeys((row.message_id, *message_ids(conn, row.id, row.features)))
    messages = (load(conn, each) for each in ids)
    return [each for each in messages if each is not None]


def message_ids(conn: sqlite3.Connection, verification_id: str, named: str | None) -> list[str]:
    """The ids of the messages by which a session's features bring its code.

    Args:
        named: the features that the session names.
    """
    return [
        each
        for feature in _bringing(named)
        if feature.session_messages is not None
        for each in feature.session_messages()(conn, verification_id)
    ]


def proven_of(messages: list[MessageState]) -> MessageState | None:
    """The message whose delivery an entered code proves; None: it may be any of several."""
    if len(messages) == 1:
        return messages[0]
    left = [each for each in messages if each.status in _LEFT]
    if len(left) != 1 or any(each.status is Status.DELIVERED for each in messages):
        return None
    return left[0]


def goes_on(
    conn: sqlite3.Connection, row: VerificationRow, message: MessageState, now_ms: int
) -> bool:
    """Whether a session goes on though a message with its code could not be sent."""
    return any(
        feature.session_goes_on()(conn, row, message.id, now_ms)
        for feature in _bringing(row.features)
        if feature.session_goes_on is not None
    )


def was_sent_before(
    conn: sqlite3.Connection, verification_id: str, named: str | None, message: MessageState
) -> bool:
    """Whether another message with a session's code was sent before this one.

    Args:
        named: the features that the session names.
    """
    ids = message_ids(conn, verification_id, named)
    others = (load(conn, each) for each in ids if each != message.id)
    return any(
        value_of(conn, "SELECT sent_at FROM message WHERE key = ?", (other.key,)) is not None
        for other in others
        if other is not None
    )


def _bringing(named: str | None) -> Iterator[Feature]:
    names = named.split() if named else ()
    return (each for each in features() if each.name in names and each.session_messages is not None)
