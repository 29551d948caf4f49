"""Messages as the rest of the engine has them; and texts and numbers are taken out of those whose
rows stay, since the books depend on them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Coroutine, Sequence
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.journal import state
from risala.engine.journal.messages import acceptance, answers, reads
from risala.engine.journal.messages.acceptance import SendRequest
from risala.engine.journal.state import find_key
from risala.engine.journal.store.audited import audited
from risala.engine.journal.store.repository import Store, audited_command, read
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.store.transaction import Group, Piece, Unit
from risala.engine.model.audit import AuditEntry
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.model.features import features
from risala.engine.model.numbers import FORGOTTEN
from risala.engine.model.records.messages import Acceptance, MessageView, NewMessage, Stamp
from risala.engine.model.states import Mode

TEXT_GONE: Final = 1
"""A bit of ``message.pruned``."""
OVER: Final = 2
"""Statuses from here on mean that a message has left, or ended (``model/numbers.py``)."""
NOT_OVER: Final = "NOT_OVER"


def redact(conn: sqlite3.Connection, keys: Collection[int]) -> None:
    """Delete the texts of these messages, and carriers' repetitions of them in receipts."""
    going = [(key,) for key in keys]
    conn.executemany(
        "UPDATE line SET raw = NULL, details = json_remove(details, '$.note')"
        " WHERE message = ? AND (raw IS NOT NULL OR details IS NOT NULL)",
        going,
    )
    conn.executemany(
        "UPDATE message SET body = '', sent_raw = NULL, receipt_raw = NULL,"  # noqa: S608 -- a constant
        f" pruned = pruned | {TEXT_GONE} WHERE key = ?",
        going,
    )


def empty(conn: sqlite3.Connection, keys: Collection[int]) -> None:
    """Erase all personal data of these messages."""
    redact(conn, keys)
    going = [(key,) for key in keys]
    # It stays counted in its organization's hour, which does not begin anew for who is forgotten.
    conn.executemany(
        f"UPDATE hook_codes SET recipient = '{FORGOTTEN}', sealed = NULL WHERE message = ?",  # noqa: S608 -- a constant
        going,
    )
    for feature in features():
        if feature.emptied is not None:
            feature.emptied()(conn, keys)
    conn.executemany(
        f"UPDATE message SET metadata = NULL, recipient = '{FORGOTTEN}' WHERE key = ?",  # noqa: S608 -- a constant
        going,
    )


def erase(conn: sqlite3.Connection, message_id: str, *, text_only: bool) -> None:
    """Erase the text of one message; unless ``text_only``, its number and metadata too.

    Raises:
        NotFound: the id is unknown.
        Conflict: it has not left yet.
    """
    key = find_key(conn, message_id)
    if key is None:
        raise NotFound(f"There is no message {message_id}.")
    status: int = value_of(conn, "SELECT status FROM message WHERE key = ?", (key,))
    if status < OVER:
        text = "The message has not been sent yet. Its text is needed until it is sent or canceled."
        raise Conflict(text, NOT_OVER)
    (redact if text_only else empty)(conn, [key])


# -- for the rest of the engine


Around = Callable[[Unit[Acceptance]], Unit[Acceptance]]
"""Makes one unit of what accepts a message and of what is stored with it."""


@dataclass(frozen=True, slots=True)
class MessageRepository:
    """Messages of all organizations. All reads are by an index, on the loop's thread.

    A command returns the commit itself, so that the caller waits for nothing else: a cancellation
    waits for it, and it raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    last_key = read(state.last_key)
    known_answer = read(answers.known_answer)
    used_keys = read(answers.used_keys)
    accepted_at = read(answers.accepted_at)
    find = read(reads.view)
    own = read(reads.own_view)
    own_of_key = read(reads.own_view_of_key)

    def own_starting(self, start: str, organization_id: str, mode: Mode) -> MessageView | None:
        """A message of this organization and mode, by its id or the start of its id."""
        message_id = state.whole_id(self._store.reader, start)
        return None if message_id is None else self.own(message_id, organization_id, mode)

    shown = read(reads.shown)

    # -- commands

    def accept(
        self,
        new: NewMessage,
        stamp: Stamp | None,
        by: AuditEntry | None,
        around: Around | None,
    ) -> Coroutine[Any, Any, Acceptance]:
        """Accept a message.

        Args:
            stamp: given where the organization has senders that wait for volume.
            around: makes one unit of this and of what is stored with it.

        Raises:
            InsufficientBalance, SpendCapReached, Forbidden: refused; nothing was written.
        """
        unit = audited(by, Piece(acceptance.accept_each, SendRequest((new,), stamp)))
        return self._store.journal.commit_shielded(unit if around is None else around(unit))

    async def accept_each(self, news: Sequence[NewMessage], stamp: Stamp | None) -> Acceptance:
        """Accept messages of as many requests by one unit: each is charged for itself."""
        requests = [SendRequest((new,), stamp) for new in news]
        unit = Group(acceptance.accept_each, requests)
        return acceptance.together(await self._store.journal.commit_shielded(unit))

    def accept_batch(
        self, news: Sequence[NewMessage], stamp: Stamp | None
    ) -> Coroutine[Any, Any, Acceptance]:
        """Accept as many messages of one request as possible, in the given order."""
        return self._store.journal.commit_shielded(
            Piece(acceptance.accept_group, SendRequest(news, stamp))
        )

    erase = audited_command(erase)
