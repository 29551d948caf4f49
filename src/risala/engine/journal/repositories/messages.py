"""Messages: accepted, read, and listed."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from risala.dataclass import dataclass
from risala.engine.journal import keys
from risala.engine.journal.messages import acceptance, answers, reads, redacting
from risala.engine.journal.messages.acceptance import SendRequest
from risala.engine.journal.store.audited import audited
from risala.engine.journal.store.repository import Store, audited_command, read
from risala.engine.journal.store.transaction import Group, Piece, Unit
from risala.engine.model.audit import AuditEntry
from risala.engine.model.records.messages import Acceptance, MessageView, NewMessage, Stamp
from risala.engine.model.states import Mode

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

    last_key = read(keys.last_key)
    known_answer = read(answers.known_answer)
    used_keys = read(answers.used_keys)
    accepted_at = read(answers.accepted_at)
    find = read(reads.view)
    own = read(reads.own_view)
    own_of_key = read(reads.own_view_of_key)

    def own_starting(self, start: str, organization_id: str, mode: Mode) -> MessageView | None:
        """The same by its id or the start of that."""
        message_id = keys.whole_id(self._store.reader, start)
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

    erase = audited_command(redacting.erase)
