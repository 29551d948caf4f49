"""Messages: accepted, read, and listed."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from risala.engine.journal import keys
from risala.engine.journal.audit.audited import audited
from risala.engine.journal.messages import acceptance, answers, reads
from risala.engine.journal.messages.acceptance import SendRequest
from risala.engine.journal.pages import cut_messages, find, lists
from risala.engine.journal.repositories.store import Store
from risala.engine.journal.store.transaction import Piece
from risala.engine.journal.webhooks.compat_calls import registering
from risala.engine.model.audit import AuditEntry
from risala.engine.model.commands import TimelineEntry
from risala.engine.model.records.message_lists import (
    CutMessage,
    FoundPage,
    ListPage,
    MessageFilter,
    Sought,
)
from risala.engine.model.records.messages import Acceptance, MessageView, NewMessage, Stamp
from risala.engine.model.records.webhooks import Callback
from risala.engine.model.states import Mode


@dataclass(frozen=True, slots=True)
class MessageRepository:
    """Messages of all organizations. All reads are by an index, on the loop's thread.

    A command returns the commit itself, so that the caller waits for nothing else: a cancellation
    waits for it, and it raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    def last_key(self) -> int:
        """The key of the newest message; 0 if there is no such row."""
        return keys.last_key(self._store.reader)

    def known_answer(self, organization_id: str, mode: Mode, key: str) -> bytes | None:
        """The answer of the message that was accepted with this idempotency key."""
        return answers.known_answer(self._store.reader, organization_id, mode.value, key)

    def find(self, message_id: str) -> MessageView | None:
        """Any message; None: the id is unknown."""
        return reads.view(self._store.reader, message_id)

    def own(self, message_id: str, organization_id: str, mode: Mode) -> MessageView | None:
        """A message of an organization and mode, no code; None: unknown, or another's."""
        return reads.own_view(self._store.reader, message_id, organization_id, mode)

    def own_of_key(self, key: int, organization_id: str, mode: Mode) -> MessageView | None:
        """The same by its key."""
        return reads.own_view_of_key(self._store.reader, key, organization_id, mode)

    def own_starting(self, start: str, organization_id: str, mode: Mode) -> MessageView | None:
        """The same by its id or the start of that."""
        message_id = keys.whole_id(self._store.reader, start)
        return None if message_id is None else self.own(message_id, organization_id, mode)

    def shown(self, message_id: str) -> tuple[MessageView, tuple[TimelineEntry, ...]]:
        """Any message, with its timeline.

        Raises:
            NotFound: the id is unknown.
        """
        return reads.shown(self._store.reader, message_id)

    # -- commands

    def accept(
        self,
        new: NewMessage,
        stamp: Stamp | None,
        by: AuditEntry | None,
        callback: Callback | None,
    ) -> Coroutine[Any, Any, Acceptance]:
        """Accept a message.

        Args:
            stamp: given where the organization has senders that wait for volume.
            callback: what to call as it goes on.

        Raises:
            InsufficientBalance, SpendCapReached, Forbidden: refused; nothing was written.
        """
        unit = audited(by, Piece(acceptance.accept_each, SendRequest((new,), stamp)))
        return self._store.journal.commit_shielded(registering(callback, unit))

    def accept_batch(
        self, news: Sequence[NewMessage], stamp: Stamp | None
    ) -> Coroutine[Any, Any, Acceptance]:
        """Accept as many messages of one request as possible, in the given order."""
        return self._store.journal.commit_shielded(
            Piece(acceptance.accept_group, SendRequest(news, stamp))
        )


@dataclass(frozen=True, slots=True)
class MessageListRepository:
    """Lists of messages. All reads are on the loop's thread: by an index, of a bounded number of
    messages."""

    _store: Store

    def page(
        self,
        wanted: MessageFilter,
        *,
        before: int | None = None,
        after: int | None = None,
        limit: int,
    ) -> ListPage:
        """The newest messages, or those older than the key ``before``, or newer than ``after``."""
        return lists.page(self._store.reader, wanted, before=before, after=after, limit=limit)

    def find(
        self,
        wanted: Sought,
        *,
        before: int | None = None,
        after: int | None = None,
        limit: int,
    ) -> FoundPage:
        """Messages of all organizations, by their numbers or ids; a page as above.

        Raises:
            TooManyNumbersError: more than :data:`WALKS_MAX` numbers with messages have the digits.
        """
        return find.page(self._store.reader, wanted, before=before, after=after, limit=limit)

    def count_newer(self, wanted: MessageFilter, after: int, most: int) -> int:
        """How many messages are newer than a key; at most ``most``, and among those looked at."""
        return lists.count_newer(self._store.reader, wanted, after, most)

    def cut_message(self, message_id: str) -> CutMessage | None:
        """The message that one is a part of; None: it is no part."""
        return cut_messages.cut_message(self._store.reader, message_id)

    def cut_messages(self, keys: Sequence[int]) -> Mapping[int, CutMessage]:
        """The messages of which these are parts, by the keys of all of their parts."""
        return cut_messages.cut_messages(self._store.reader, keys)
