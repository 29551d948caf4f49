"""The queue of mails."""

from __future__ import annotations

from risala.dataclass import dataclass
from risala.engine.journal.pages import behind
from risala.engine.journal.people import mails
from risala.engine.journal.store.repository import Store, command, read


@dataclass(frozen=True, slots=True)
class MailRepository:
    """Mails that are owed. All reads are by an index, on the loop's thread. Units of other
    repositories owe mails, each in the transaction that is the reason for it.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    due = read(mails.first)
    status = read(mails.queue_status)
    waiting = read(behind.mails)
    settle = command(mails.settle)
    put_off = command(mails.put_off)
    forget_settled = command(mails.forget_settled)
