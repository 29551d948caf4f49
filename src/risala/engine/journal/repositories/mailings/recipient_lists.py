"""Recipient lists with their people, and saved texts."""

from __future__ import annotations

from risala.dataclass import dataclass
from risala.engine.journal.mailings import list_people, recipient_lists, saved_texts
from risala.engine.journal.repositories.store import Store, audited_command, command, read, scan


@dataclass(frozen=True, slots=True)
class RecipientListRepository:
    """Recipient lists. Lists are read by an index, on the loop's thread; people on a thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    recipient_list = read(recipient_lists.recipient_list)
    of_organization = read(recipient_lists.of_organization)
    refuse_another = read(recipient_lists.refuse_another)
    page = scan(list_people.page)
    people_after = scan(list_people.people_after)
    count_known = scan(list_people.count_known)
    create = audited_command(list_people.create)
    grow = audited_command(list_people.grow)
    put_people = command(list_people.put_people)
    change = audited_command(recipient_lists.change)
    remove = audited_command(list_people.remove)
    delete = audited_command(recipient_lists.delete)


@dataclass(frozen=True, slots=True)
class SavedTextRepository:
    """Saved texts. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    saved_text = read(saved_texts.saved_text)
    of_organization = read(saved_texts.of_organization)
    add = audited_command(saved_texts.add)
    change = audited_command(saved_texts.change)
    delete = audited_command(saved_texts.delete)
