"""Users, their change of address, and their end."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from risala.dataclass import dataclass
from risala.engine.journal import user_changes
from risala.engine.journal.people import email_changes, members, users
from risala.engine.journal.store.audited import audited
from risala.engine.journal.store.repository import Store, audited_command, read
from risala.engine.model.audit import AuditEntry
from risala.engine.model.errors import Conflict
from risala.engine.model.people import EmailChange, User


@dataclass(frozen=True, slots=True)
class UserRepository:
    """Who has an account. All reads are by an index, on the loop's thread; a list looks at a
    bounded part of the table.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    user = read(users.user)
    by_email = read(users.by_email)
    has_factor = read(users.has_factor)
    operators_have_factor = read(users.operators_have_factor)
    story = read(users.story)
    page = read(users.page)
    count_organizations = read(users.count_organizations)
    owned_alone = read(members.owned_alone)
    email_change = read(email_changes.of_user)
    pending_email_change = read(email_changes.pending)

    # -- commands

    add = audited_command(users.add)
    change = audited_command(users.change)
    change_by_operator = audited_command(user_changes.change_by_operator)
    begin_email_change = audited_command(email_changes.begin)

    async def confirm_email_change(
        self,
        by: AuditEntry,
        user_id: str,
        judge: Callable[[EmailChange], EmailChange],
        now_ms: int,
    ) -> tuple[User, EmailChange | None]:
        """Count what was typed; with the second right code the user has the new address, and no
        change is left.

        Args:
            by: leaves its line with the change of the address alone.
            judge: what the codes come to.

        Raises:
            Conflict: the codes are over, or another user has the address.
        """
        unit = partial(
            email_changes.confirm,
            user_id=user_id,
            judge=judge,
            now_ms=now_ms,
            audited=partial(audited, by),
        )
        answer = await self._store.commit(unit)
        if isinstance(answer, Conflict):
            raise answer
        return answer

    delete = audited_command(user_changes.delete)
