"""Senders, and the requests for them."""

from __future__ import annotations

from risala.dataclass import dataclass
from risala.engine.journal.accounts import senders
from risala.engine.journal.pages import requests
from risala.engine.journal.store.repository import Store, audited_command, read


@dataclass(frozen=True, slots=True)
class SenderRepository:
    """Senders. All reads are on the loop's thread: the number of senders is bounded.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    sender = read(senders.sender)
    by_name = read(senders.by_name)
    all = read(senders.senders)
    owned_names = read(senders.owned_names)
    waiting_for_volume = read(senders.waiting_for_volume)
    volume = read(senders.volume)
    undecided = read(requests.undecided)
    requested = read(requests.waiting)
    page = read(requests.page)
    add = audited_command(senders.add)
    clear = audited_command(senders.clear)
    deny = audited_command(senders.deny)
